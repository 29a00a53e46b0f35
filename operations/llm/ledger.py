"""The record of every attempt, and the sums by UTC day and lane that the authority reads."""

from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import F, Q, Sum
from django.utils import timezone

from operations.database import read_snapshot, require_write, writer
from operations.ended_runs import find_run_stop
from operations.errors import StageCanceled
from operations.eventlog import append
from operations.events import LlmUsageObserved
from operations.llm.authority import check_budget, utc_day
from operations.llm.breaker import admit_provider, pause_provider, resume_provider
from operations.llm.calls import Caller
from operations.llm.errors import AnswerUnusable
from operations.llm.pricing import Price
from operations.llm.usage import Usage
from operations.models import LlmAttempt, LlmSpend

OPEN, COUNTED, UNKNOWN = "open", "counted", "unknown"
USAGE_PARTIAL = "usage_partial"
MICRO_DOLLARS = 1_000_000


@dataclass(frozen=True, slots=True)
class Target:
    """Which model of which provider a lane asks."""

    lane: str
    provider: str
    model: str


def open_attempt(target: Target, caller: Caller) -> UUID:
    """Admit one attempt and commit its row, before the request leaves; returns its observation key.

    Raises ``StageCanceled`` once the caller's run has ended or was asked to stop, ``BudgetExceeded`` or
    ``ProviderPaused``, and then nothing was recorded.
    """
    now = timezone.now()
    key = uuid4()
    with writer():
        if caller.run_id and find_run_stop(caller.run_id) is not None:
            raise StageCanceled
        check_budget(target.lane, now=now)
        admit_provider(target.provider, now=now)
        LlmAttempt.objects.create(
            tenant_id=settings.TENANT_ID,
            observation_key=key,
            lane=target.lane,
            provider=target.provider,
            model=target.model[:120],
            workflow_id=caller.workflow_id,
            run_id=caller.run_id,
            activity_attempt=caller.activity_attempt,
            job_id=caller.job_id,
            stage=caller.stage,
            state=OPEN,
            opened_at=now,
        )
    return key


def count_attempt(key: UUID, *, usage: Usage, price: Price, http_status: int, is_whole: bool = True) -> bool:
    """Complete an attempt and add it to the day's sums in one transaction; a second observation counts nothing.

    What was not told to its end (not ``is_whole``) is counted as far as it is known, and the attempt stays unknown.
    """
    now = timezone.now()
    day = utc_day(now)
    with writer():
        # Also one that ended as unknown while its answer was being written down; a day = it was counted before.
        changed = LlmAttempt.objects.filter(observation_key=key, state__in=(OPEN, UNKNOWN), day=None).update(
            state=COUNTED if is_whole else UNKNOWN,
            error_code=F("error_code") if is_whole else USAGE_PARTIAL,
            http_status=http_status,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cached_input_tokens=usage.cached_input_tokens,
            reasoning_output_tokens=usage.reasoning_output_tokens,
            cost_usd=price.cost_usd,
            priced_by=price.priced_by,
            day=day,
            closed_at=now,
        )
        if not changed:
            return False
        attempt = LlmAttempt.objects.get(observation_key=key)
        _add_to_day(attempt, day, usage, price)
        append(
            LlmUsageObserved(
                lane=attempt.lane,
                provider=attempt.provider,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cost_micro_usd=int(price.cost_usd * MICRO_DOLLARS),
                workflow_id=attempt.workflow_id,
                run_id=attempt.run_id,
            ),
            key=f"llm:{key}",
        )
    return True


def _add_to_day(attempt: LlmAttempt, day: date, usage: Usage, price: Price) -> None:
    require_write()
    row, _ = LlmSpend.objects.get_or_create(tenant_id=attempt.tenant_id, day=day, lane=attempt.lane)
    LlmSpend.objects.filter(pk=row.pk).update(
        input_tokens=F("input_tokens") + usage.input_tokens,
        output_tokens=F("output_tokens") + usage.output_tokens,
        cached_input_tokens=F("cached_input_tokens") + usage.cached_input_tokens,
        reasoning_output_tokens=F("reasoning_output_tokens") + usage.reasoning_output_tokens,
        cost_usd=F("cost_usd") + price.cost_usd,
        updated_at=timezone.now(),
    )


def close_unknown(key: UUID, *, http_status: int | None, error_code: str) -> bool:
    """End an attempt whose usage nobody can know: no answer, or one that does not say. It adds nothing to any sum."""
    with writer():
        return bool(
            LlmAttempt.objects.filter(observation_key=key, state=OPEN).update(
                state=UNKNOWN, http_status=http_status, error_code=error_code[:60], closed_at=timezone.now()
            )
        )


def note_error(key: UUID, *, error_code: str) -> None:
    """What came of a counted answer that could not be used."""
    with writer():
        LlmAttempt.objects.filter(observation_key=key).update(error_code=error_code[:60])


def note_answer(key: UUID, *, provider: str) -> None:
    """The provider has answered this attempt: if that was a probe, it is asked as usual again."""
    resume_provider(provider, asked_at=LlmAttempt.objects.get(observation_key=key).opened_at)


def note_refusal(key: UUID, *, reason_code: str, http_status: int | None) -> bool:
    """The provider refuses the account, so it is paused. ``False`` where it has answered a later attempt meanwhile."""
    with writer():
        attempt = LlmAttempt.objects.get(observation_key=key)
        later = LlmAttempt.objects.filter(opened_at__gt=attempt.opened_at, provider=attempt.provider)
        answered = Q(state=COUNTED) | Q(state=UNKNOWN, error_code__in=("", AnswerUnusable.code))
        if later.filter(answered, http_status__gte=200, http_status__lt=300).exists():
            return False
        pause_provider(attempt.provider, reason_code=reason_code, http_status=http_status, now=timezone.now())
    return True


@dataclass(frozen=True, slots=True)
class DayCheck:
    """The ledger of one day and lane beside its attempts; ``is_even`` where both say the same."""

    day: str
    lane: str
    ledger: tuple[int, int, str]
    attempts: tuple[int, int, str]

    @property
    def is_even(self) -> bool:
        return self.ledger == self.attempts


def compare_day(day: datetime) -> list[DayCheck]:
    """For doctor and tests: the sums of the day's attempts against the ledger that the authority reads."""
    wanted = utc_day(day)
    attempts = LlmAttempt.objects.filter(tenant_id=settings.TENANT_ID, day=wanted).values("lane")
    with read_snapshot():  # an attempt that is counted in between would be in the one and not in the other
        sums = {
            row["lane"]: (row["given"] or 0, row["made"] or 0, f"{row['cost'] or 0:.6f}")
            for row in attempts.annotate(given=Sum("input_tokens"), made=Sum("output_tokens"), cost=Sum("cost_usd"))
        }
        ledger = {
            row.lane: (row.input_tokens, row.output_tokens, f"{row.cost_usd:.6f}")
            for row in LlmSpend.objects.filter(tenant_id=settings.TENANT_ID, day=wanted)
        }
    nothing = (0, 0, "0.000000")
    return [
        DayCheck(wanted.isoformat(), lane, ledger.get(lane, nothing), sums.get(lane, nothing))
        for lane in sorted(sums.keys() | ledger.keys())
    ]
