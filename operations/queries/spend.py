"""Reads of the ledger and of single attempts. What an attempt used may be unknown; it is counted then, never as 0.

The ledger holds a row for each lane and day. Attempts may be a million: every read of them is an index range, and one
that could grow without end stops at a number that its result says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Max, Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from operations.contracts import ExecutionRef, WorkPlan
from operations.models import DiscoveryExecutionJob, LlmAttempt, LlmSpend, ProviderBreaker

#: So many attempts of a day, a run or a job are added up at most.
CALLS_COUNTED: Final = 5_000
#: An estimate stands beside every form that starts work, so it looks at fewer.
CALLS_ESTIMATED_FROM: Final = 1_000
#: An attempt that is still open after so long gets no answer any more.
ANSWER_IS_LATE: Final = timedelta(minutes=5)
#: An attempt has a day once it was counted, and an index is led by it.
NOT_COUNTED: Final = Q(day__isnull=True)
#: Also one that was counted for the part of it that a broken stream told.
UNKNOWN_USE: Final = NOT_COUNTED | Q(state="unknown")


@dataclass(frozen=True, slots=True)
class DayUse:
    """What all lanes used on one UTC day; what ``unknown`` calls used is in no figure."""

    day: date
    tokens: int
    cost_usd: Decimal
    unknown: int = 0

    @property
    def is_unknown(self) -> bool:
        """Calls were made, and none of them said what it used."""
        return bool(self.unknown) and not self.tokens and not self.cost_usd

    @property
    def told(self) -> "DayUse | None":
        return None if self.is_unknown else self


@dataclass(frozen=True, slots=True)
class ModelUse:
    """``unknown`` of the ``calls`` never said what they used, so the tokens and the cost lack them."""

    provider: str
    model: str
    calls: int
    unknown: int
    tokens: int
    cost_usd: Decimal


@dataclass(frozen=True, slots=True)
class ModelShares:
    """``is_cut``: there were more calls, and these are the newest. The times are of the first and the last call."""

    models: list[ModelUse]
    is_cut: bool
    first_at: datetime | None
    last_at: datetime | None

    @property
    def calls(self) -> int:
        return sum(use.calls for use in self.models)


@dataclass(frozen=True, slots=True)
class CallCost:
    """What some calls cost together; ``is_cut``: at least that."""

    calls: int
    unknown: int
    tokens: int
    cost_usd: Decimal
    is_cut: bool = False

    @property
    def told_usd(self) -> Decimal | None:
        """``None`` = unknown: no call said what it used."""
        return None if self.unknown == self.calls else self.cost_usd


def list_lane_rows(day: date) -> list[LlmSpend]:
    """A row for each lane that used anything on this UTC day."""
    return list(LlmSpend.objects.filter(tenant_id=settings.TENANT_ID, day=day))


def list_ledger(since: date, until: date) -> QuerySet[LlmSpend]:
    """The rows of these UTC days, both included, newest day first."""
    rows = LlmSpend.objects.filter(tenant_id=settings.TENANT_ID, day__gte=since, day__lte=until)
    return rows.order_by("-day", "-lane")


def list_days(since: date, until: date, *, now: datetime) -> list[DayUse]:
    """Every UTC day from ``since`` to ``until``, the empty ones too: of the ledger a row for each lane and day, and the
    calls of unknown use."""
    sums: dict[date, tuple[int, Decimal]] = {}
    for row in list_ledger(since, until):
        tokens, cost = sums.get(row.day, (0, Decimal(0)))
        sums[row.day] = tokens + row.input_tokens + row.output_tokens, cost + row.cost_usd
    days = [since + timedelta(days=number) for number in range((until - since).days + 1)]
    unknown = _count_unknown_by_day(datetime.combine(since, time.min, tzinfo=UTC), now)
    return [DayUse(day, *sums.get(day, (0, Decimal(0))), unknown.get(day, 0)) for day in days]


def _count_unknown_by_day(since: datetime, now: datetime) -> dict[date, int]:
    rows = _list_unknown(since, now).order_by().annotate(on=TruncDate("opened_at", tzinfo=UTC)).values_list("on")
    return dict(rows.annotate(calls=Count("pk")))


def read_model_shares(since: datetime) -> ModelShares:
    """By model, of the newest 5,000 attempts since then."""
    newest = LlmAttempt.objects.filter(opened_at__gte=since).order_by("-opened_at", "-observation_key")
    chosen = _take(newest)
    rows = list(_sum(chosen, "provider", "model").annotate(last=Max("opened_at")))
    models = [ModelUse(row["provider"], row["model"], *_read_sums(row)) for row in rows]
    first = LlmAttempt.objects.filter(opened_at__gte=since).order_by("opened_at").values_list("opened_at", flat=True)
    return ModelShares(
        sorted(models, key=lambda use: (-use.cost_usd, -use.calls, use.model)),
        sum(use.calls for use in models) >= CALLS_COUNTED,
        first.first() if rows else None,
        max((row["last"] for row in rows), default=None),
    )


def list_unknown_attempts(*, since: datetime, now: datetime, limit: int) -> list[LlmAttempt]:
    """Attempts whose use nobody knows, newest first. One that may yet be answered is not among them."""
    return list(_list_unknown(since, now).order_by("-opened_at", "-observation_key")[:limit])


def count_unknown(*, since: datetime, now: datetime) -> dict[str, int]:
    """How many of ``list_unknown_attempts`` each lane has; a range of an index that holds no counted attempt."""
    rows = _list_unknown(since, now).order_by().values_list("lane")
    return dict(rows.annotate(calls=Count("pk")))


def _list_unknown(since: datetime, now: datetime) -> QuerySet[LlmAttempt]:
    late = Q(state="unknown") | Q(opened_at__lt=now - ANSWER_IS_LATE)
    return LlmAttempt.objects.filter(~Q(state="counted"), late, opened_at__gte=since)


def list_paused_providers() -> list[ProviderBreaker]:
    """A row for each provider that refuses the account; there are three providers."""
    return list(ProviderBreaker.objects.order_by("provider"))


def find_run_cost(run_id: str) -> CallCost | None:
    """Of the run's own calls, at most 5,000; ``None`` where it made none."""
    return _read_cost(LlmAttempt.objects.filter(run_id=run_id).order_by("-opened_at")) if run_id else None


def map_run_costs(run_ids: Sequence[str]) -> dict[str, CallCost]:
    """Of each run's own calls, for the runs of a page; one that made none is not there. An index range for each run."""
    rows = _sum(LlmAttempt.objects.filter(run_id__in=[run_id for run_id in run_ids if run_id]), "run_id")
    return {row["run_id"]: CallCost(*_read_sums(row)) for row in rows}


def find_preparations_cost(ref: ExecutionRef, *, since: datetime) -> CallCost | None:
    """Of the preparations that an execution has planned, at most 5,000 calls since then; ``None`` where there was none.

    A preparation that a later execution repeats is the same workflow, and counts for both.
    """
    planned = DiscoveryExecutionJob.objects.filter(run_id=ref.run_id, plan_state=WorkPlan.PLANNED)
    calls = LlmAttempt.objects.filter(
        job_id__in=planned.values("job_id"),
        workflow_id__in=planned.values("preparation_workflow_id"),
        opened_at__gte=since,
    )
    return _read_cost(calls.order_by("-opened_at"))


def map_stage_costs(job_id: UUID) -> dict[str, CallCost]:
    """By stage, of the job's newest 5,000 calls."""
    rows = _sum(_take(LlmAttempt.objects.filter(job_id=job_id).order_by("-opened_at")), "stage")
    return {row["stage"]: CallCost(*_read_sums(row)) for row in rows}


def add_costs(costs: Sequence[CallCost]) -> CallCost | None:
    """``None`` for no calls."""
    if not costs:
        return None
    calls = sum(cost.calls for cost in costs)
    return CallCost(
        calls,
        sum(cost.unknown for cost in costs),
        sum(cost.tokens for cost in costs),
        sum((cost.cost_usd for cost in costs), Decimal(0)),
        calls >= CALLS_COUNTED,
    )


def _read_cost(rows: QuerySet[LlmAttempt]) -> CallCost | None:
    row = next(iter(_sum(_take(rows), "tenant_id")), None)
    if row is None:
        return None
    sums = _read_sums(row)
    return CallCost(*sums, is_cut=sums[0] >= CALLS_COUNTED)


def _take(rows: QuerySet[LlmAttempt], count: int = CALLS_COUNTED) -> QuerySet[LlmAttempt]:
    """The first rows as a table of their own, since a slice cannot be grouped."""
    return LlmAttempt.objects.filter(pk__in=rows.values("pk")[:count])


def _sum(rows: QuerySet[LlmAttempt], *groups: str) -> QuerySet[LlmAttempt, dict[str, Any]]:
    found: QuerySet[LlmAttempt, dict[str, Any]] = (
        rows.order_by()
        .values(*groups)
        .annotate(
            calls=Count("pk"),
            unknown=Count("pk", filter=UNKNOWN_USE),
            given=Sum("input_tokens"),
            made=Sum("output_tokens"),
            cost=Sum("cost_usd"),
        )
    )
    return found


def _read_sums(row: dict[str, Any]) -> tuple[int, int, int, Decimal]:
    return row["calls"], row["unknown"], (row["given"] or 0) + (row["made"] or 0), row["cost"] or Decimal(0)


@dataclass(frozen=True, slots=True)
class JobCost:
    """What one lane's model cost for one job, over all its calls."""

    job_id: UUID
    lane: str
    provider: str
    model: str
    unknown: int
    cost_usd: Decimal


def list_job_costs(since: datetime) -> list[JobCost]:
    """By job and lane, of the newest 1,000 calls since then."""
    newest = LlmAttempt.objects.filter(opened_at__gte=since).order_by("-opened_at", "-observation_key")
    rows = _sum(_take(newest, CALLS_ESTIMATED_FROM), "job_id", "lane", "provider", "model")
    return [
        JobCost(row["job_id"], row["lane"], row["provider"], row["model"], row["unknown"], row["cost"] or Decimal(0))
        for row in rows
        if row["job_id"] is not None
    ]
