"""Asking a model provider something small, to see whether it works. Each such question is a paid one."""

import logging
import threading
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final
from uuid import uuid4

from django.db import connection
from django.utils import timezone
from pydantic import BaseModel

from operations.database import writer
from operations.errors import OperationsError
from operations.eventlog import append_marker
from operations.llm.authority import BUILTIN, next_reset
from operations.llm.breaker import wait_before_probe
from operations.llm.calls import Caller, calling_as
from operations.llm.errors import BudgetExceeded, ProviderNotSetUp
from operations.llm.gateway import Question, ask_model
from operations.llm.ledger import Target
from operations.llm.providers import make_target
from operations.models import LlmAttempt, ProviderBreaker
from operations.services.operating import PROVIDER_ASKED_AGAIN
from operations.settings_store import get_setting

log = logging.getLogger(__name__)

DEFAULT_LANE: Final = "score"
TESTER: Final = "test-provider"


class NotPaused(OperationsError):
    """This provider is not paused; nothing was asked."""

    code = "not_eligible"


class Readiness(BaseModel):
    """The smallest typed answer there is."""

    ready: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """``failure`` is "" where it answered; ``unknown`` of the ``calls`` did not say what they used."""

    lane: str
    provider: str
    model: str
    calls: int
    unknown: int
    tokens: int
    cost_usd: Decimal
    failure: str = ""
    code: str = ""

    @property
    def works(self) -> bool:
        return not self.failure


def try_provider(*, provider: str, model: str, lane: str = "") -> Trial:
    """Ask one question of a few tokens, counted under ``lane``: the first that uses this model where "" is given.

    The day's limits, the lane's and the provider's breaker hold for it too. Takes as long as the provider does, so
    never on the event loop and never inside ``writer()``. Raises ``ProviderNotSetUp`` where a key or a model is
    missing; how the question itself ended is in the answer.
    """
    target = make_target(lane or find_lane(provider, model), provider, model)
    began, caller = timezone.now(), Caller(workflow_id=f"{TESTER}-{uuid4()}")
    failure = code = ""
    try:
        with calling_as(caller):
            ask_model(
                Question(target.lane, "Say that you are ready.", "Are you ready?", Readiness),
                target=target,
            )
    except OperationsError as error:
        failure, code = error.message, str(error.code)
    return _sum_up(target, caller, began, failure, code)


def find_lane(provider: str, model: str) -> str:
    """The first lane that uses this model of this provider."""
    providers, models = get_setting("provider"), get_setting("model")
    mine = (lane for lane, name in providers.items() if name == provider and models.get(lane) == model)
    return next(mine, DEFAULT_LANE)


def _sum_up(target: Target, caller: Caller, began: datetime, failure: str, code: str) -> Trial:
    """The attempts since it began; an index range of a few rows."""
    rows = LlmAttempt.objects.filter(opened_at__gte=began, workflow_id=caller.workflow_id)
    used = list(rows.values_list("state", "input_tokens", "output_tokens", "cost_usd"))
    return Trial(
        target.lane,
        target.provider,
        target.model,
        len(used),
        sum(state != "counted" for state, *_ in used),
        sum((given or 0) + (made or 0) for _, given, made, _ in used),
        sum((cost or Decimal(0) for *_, cost in used), Decimal(0)),
        failure,
        code,
    )


def ask_provider_again(provider: str, *, actor: str) -> Trial | None:
    """Let a paused provider be asked now instead of at its next time, and ask it, with the model of a lane of its.

    ``None`` where no lane names a model any more, so that nothing was asked. Raises ``NotPaused``.
    """
    with writer():
        now = timezone.now()
        if not ProviderBreaker.objects.filter(provider=provider).update(next_probe_at=now):
            raise NotPaused
        append_marker(PROVIDER_ASKED_AGAIN, job_id=None, body={"provider": provider, "actor": actor})
    return _try_own_model(provider)


def _try_own_model(provider: str) -> Trial | None:
    """``try_provider`` with the model of a lane of its; ``None`` where no lane names one."""
    models = get_setting("model")
    lanes = [lane for lane, name in get_setting("provider").items() if name == provider != BUILTIN and models.get(lane)]
    return try_provider(provider=provider, model=models[lanes[0]], lane=lanes[0]) if lanes else None


def ask_due_providers() -> int:
    """Ask each paused provider whose time has come: one that nobody gives work to would stay paused for ever.

    Of several workers the breaker lets one through. One that cannot be asked is looked at again after as long as after
    a probe that was refused, but no probe of it is counted. Returns how many have resumed; takes as long as they do.
    """
    resumed = 0
    for row in list(ProviderBreaker.objects.filter(next_probe_at__lte=timezone.now())):
        try:
            trial = _try_own_model(row.provider)
        except ProviderNotSetUp as error:
            _put_off(row, error.message)
        except Exception as error:
            log.error("asking %s again raised %s", row.provider, type(error).__name__)
            _put_off(row, type(error).__name__)
        else:
            if trial is None:
                _put_off(row, "no lane uses it")
            elif not trial.calls:
                _put_off(row, trial.failure, has_no_budget=trial.code == BudgetExceeded.code)
        resumed += not ProviderBreaker.objects.filter(provider=row.provider).exists()
    return resumed


_asking = threading.Lock()
#: Why a provider was last not asked: said once, not at each time.
_said: dict[str, str] = {}


def _put_off(row: ProviderBreaker, why: str, *, has_no_budget: bool = False) -> None:
    """Unless somebody has moved its time meanwhile. The budget is new at midnight, so nothing waits for it longer."""
    now = timezone.now()
    next_at = now + wait_before_probe(row.probes)
    if has_no_budget:
        next_at = min(next_at, next_reset(now))
    with writer():
        due = ProviderBreaker.objects.filter(provider=row.provider, next_probe_at=row.next_probe_at)
        if not due.update(next_probe_at=next_at):
            return
    if _said.get(row.provider) != why:
        _said[row.provider] = why
        log.info("%s stays paused and was not asked: %s", row.provider, why)


def start_asking_due_providers() -> int:
    """``ask_due_providers`` in a thread of its own, one at a time: the heartbeat waits for no provider."""

    def ask() -> None:
        try:
            ask_due_providers()
        finally:
            connection.close()
            _asking.release()

    is_due = ProviderBreaker.objects.filter(next_probe_at__lte=timezone.now()).exists()
    if not is_due or not _asking.acquire(blocking=False):
        return 0
    threading.Thread(target=ask, name="provider-probe", daemon=True).start()
    return 1
