from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from operations.admin.acting import ask_once, row_action, take_selected
from operations.admin.changelist import IndexedFilter
from operations.admin.tables import TableAdmin
from operations.admin.ways import ID, TEXT, Way
from operations.errors import OperationsError
from operations.models import LlmAttempt, LlmSpend, ProviderBreaker
from operations.queries.spend import NOT_COUNTED
from operations.services.providers import ask_provider_again
from operations.views.spend_words import describe_trial

SPEND = "Spend"
BY_AGE = ("opened_at", "observation_key")


@admin.register(LlmSpend)
class SpendAdmin(TableAdmin):
    """The ledger that the limits are checked against; ``/v1/spend?format=csv`` is its export."""

    group, place = SPEND, 10
    list_display = ("day", "lane", "input_tokens", "output_tokens", "cost_usd", "updated_at")


class UseFilter(IndexedFilter):
    title = "use"
    parameter_name = "use"
    order = BY_AGE

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [("unknown", "unknown, or not answered yet")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[LlmAttempt]) -> QuerySet[LlmAttempt]:
        return queryset.filter(NOT_COUNTED) if self.value() == "unknown" else queryset


@admin.register(LlmAttempt)
class AttemptAdmin(TableAdmin):
    """A million rows and more."""

    group, place = SPEND, 20
    keys = BY_AGE
    plural = "model calls"
    ways = (
        Way("run_id", "run_id", TEXT, BY_AGE),
        Way("job_id", "job_id", ID, BY_AGE),
        Way("attempt_id", "observation_key", ID, ("observation_key",), beginnings=("observation_key",)),
    )
    list_display = ("observation_key", "opened_at", "lane", "model", "state", "http_status", "input_tokens",
                    "output_tokens", "cost_usd", "job_id", "run_id")  # fmt: skip
    list_filter = (UseFilter,)


@admin.register(ProviderBreaker)
class PausedProviderAdmin(TableAdmin):
    """Providers that refuse the account; none is the usual state."""

    group, place = SPEND, 30
    keys = ("provider",)
    list_display = ("provider", "reason_code", "http_status", "opened_at", "probes", "next_probe_at")
    actions = ("ask_again",)

    @row_action("Ask the chosen providers again now")
    def ask_again(self, request: HttpRequest, queryset: Any) -> TemplateResponse | None:
        rows = take_selected(request, queryset)
        page = ask_once(
            self, request, rows, title="Ask these providers again?", label="Ask",
            consequence="Each is asked one question of a few tokens, which it may charge for.",
        )  # fmt: skip
        if page is None:
            for row in rows:
                _ask(request, row)
        return page


def _ask(request: HttpRequest, row: ProviderBreaker) -> None:
    try:
        trial = ask_provider_again(row.provider, actor=request.user.get_username())
    except OperationsError as error:
        messages.error(request, f"{row.provider}: {error.message}")
        return
    if trial is None:
        messages.success(request, f"{row.provider}: no lane uses it now; it is asked as soon as one does.")
    else:
        (messages.success if trial.works else messages.warning)(request, describe_trial(trial))
