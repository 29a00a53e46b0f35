"""What models cost: today against its limits, the days before, and which providers refuse us."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from operations.access.actors import require_actor
from operations.contracts import LANES
from operations.errors import OperationsError
from operations.models import ProviderBreaker
from operations.queries.spend import (
    CALLS_COUNTED,
    DayUse,
    list_days,
    list_paused_providers,
    list_unknown_attempts,
    read_model_shares,
)
from operations.services.providers import ask_provider_again
from operations.settings_store import get_setting
from operations.spend import LaneUse, SpendToday, read_spend_today
from operations.spend_pace import forecast_day
from operations.templatetags.ui import ChartBar
from operations.views.spend_words import (
    describe_forecast,
    describe_lane,
    describe_level,
    describe_tokens,
    describe_trial,
    describe_unknown,
)
from operations.wording.costs import describe_spent
from operations.wording.lanes import describe_refusal, join_lanes, name_lane, name_provider

DAYS_SHOWN: Final = 30
UNKNOWN_SHOWN: Final = 20


@require_GET
def show_spend(request: HttpRequest) -> HttpResponse:
    """The whole page, or with ``?fragment=body`` what changes."""
    template = "operations/_spend.html" if request.GET.get("fragment") == "body" else "operations/spend.html"
    return render(request, template, build_spend())


def build_spend() -> dict[str, Any]:
    now = timezone.now()
    today = read_spend_today(now)
    providers, models = get_setting("provider"), get_setting("model")
    shares = read_model_shares(today.began_at)
    days = list_days(today.day - timedelta(days=DAYS_SHOWN - 1), today.day, now=now)
    unknown = list_unknown_attempts(since=today.began_at, now=now, limit=UNKNOWN_SHOWN + 1)
    return {
        "today": today,
        "spent": describe_spent(today.spent_usd, unknown=today.unknown, is_unknown=today.is_unknown),
        "level": describe_level(today),
        "forecast": describe_forecast(forecast_day(today, shares, now=now)),
        "lanes": list_lanes(today, providers, models),
        "bars": [draw_day(day) for day in days],
        "month": describe_days(days),
        "models": [{"use": use, "provider": name_provider(use.provider)} for use in shares.models],
        "calls": shares.calls,
        "is_cut": shares.is_cut,
        "calls_counted": CALLS_COUNTED,
        "unknown": [{"attempt": row, "lane": name_lane(row.lane), "why": describe_unknown(row)} for row in unknown][
            :UNKNOWN_SHOWN
        ],
        "has_more_unknown": len(unknown) > UNKNOWN_SHOWN,
        "paused": [describe_paused(row, providers) for row in list_paused_providers()],
        "is_empty": not (today.uses_models or today.lanes or any(day.tokens or day.unknown for day in days)),
    }


def list_lanes(today: SpendToday, providers: Mapping[str, str], models: Mapping[str, str]) -> list[dict[str, Any]]:
    """Every lane that asked a model today, has a limit, or may use a model."""
    used = {use.lane: use for use in today.lanes}
    shown = []
    for lane in LANES:
        engine = providers.get(lane, "builtin")
        if lane not in used and engine == "builtin":
            continue
        use = used.get(lane, LaneUse(lane))
        model = models.get(lane, "no model named") if engine != "builtin" else ""
        shown.append(
            {
                "use": use,
                "label": name_lane(lane),
                "engine": f"{name_provider(engine)} · {model}" if model else name_provider(engine),
                "tokens": describe_tokens(use),
                "cost": describe_spent(use.cost_usd, unknown=use.unknown, is_unknown=use.is_unknown),
                "state": describe_lane(use, engine),
            }
        )
    return shown


def draw_day(day: DayUse) -> ChartBar:
    text = describe_spent(day.cost_usd, unknown=day.unknown, is_unknown=day.is_unknown)
    return ChartBar(f"{day.day:%Y-%m-%d}", float(day.cost_usd), text)


def describe_days(days: Sequence[DayUse]) -> str:
    unknown, told = sum(day.unknown for day in days), any(day.tokens or day.cost_usd for day in days)
    return describe_spent(
        sum((day.cost_usd for day in days), Decimal(0)), unknown=unknown, is_unknown=bool(unknown) and not told
    )


def describe_paused(row: ProviderBreaker, providers: Mapping[str, str]) -> dict[str, Any]:
    lanes = [lane for lane in LANES if providers.get(lane) == row.provider]
    return {
        "row": row,
        "name": name_provider(row.provider),
        "why": describe_refusal(row.reason_code),
        "waiting": join_lanes(lanes),
        "is_due": row.next_probe_at <= timezone.now(),
    }


@require_POST
def ask_again(request: HttpRequest) -> HttpResponse:
    """Ask a paused provider now. It waits for the answer, in the request's own thread."""
    try:
        trial = ask_provider_again(request.POST.get("provider", "")[:20], actor=require_actor(request).name)
    except OperationsError as error:
        messages.error(request, error.message)
        return redirect("operations:spend")
    if trial is None:
        messages.success(request, "No lane uses this provider now, so nothing was asked. Ask it again once one does.")
    elif trial.works:
        messages.success(request, f"{describe_trial(trial)} It is no longer paused; the next run takes up what waited.")
    else:
        messages.warning(request, describe_trial(trial))
    return redirect("operations:spend")
