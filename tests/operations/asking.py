"""Asking a model in a test, and what must be true of the records afterwards however it ended."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from django.utils import timezone
from pydantic import BaseModel, Field

from operations.errors import OperationsError
from operations.llm.calls import Caller, calling_as
from operations.llm.gateway import Question, ask_model
from operations.llm.ledger import Target, compare_day, count_attempt, open_attempt
from operations.llm.pricing import Price
from operations.llm.usage import Usage
from operations.models import JobEventRow, LlmAttempt, LlmSpend
from tests.modelserver import ModelServer
from tests.modelwires import MODELS

KEY: Final = "sk-brindlewick-0451"
PROMPT: Final = "quillonberry"
PROFILE: Final = "thrandelmoss"
LANE: Final = "score"
RUN: Final = "run-asking"


class Verdict(BaseModel):
    score: int = Field(ge=1, le=10)
    note: str = ""


def ask(
    provider: str,
    *,
    lane: str = LANE,
    model: str = "",
    check: Callable[[Verdict], str] = lambda _: "",
) -> Verdict | OperationsError:
    """The answer, or the error that a stage would see; any other exception is a bug and is raised."""
    try:
        with calling_as(Caller("prep-asking", RUN, 2, None, "score")):
            return put_question(provider, lane=lane, model=model, check=check)
    except OperationsError as error:
        return error


def put_question(
    provider: str, *, lane: str = LANE, model: str = "", check: Callable[[Verdict], str] = lambda _: ""
) -> Verdict:
    """As whoever is calling: a stage at work, say."""
    question = Question(lane, f"You judge. {PROMPT}", f"A posting and a profile: {PROFILE}", Verdict, check)
    return ask_model(question, target=Target(lane, provider, model or MODELS[provider]))


def spend(lane: str = LANE, given: int = 0, made: int = 0, usd: str = "0") -> UUID:
    """One attempt that was admitted and counted now; returns its key."""
    key = open_attempt(Target(lane, "openai", MODELS["openai"]), Caller())
    assert count_attempt(key, usage=Usage(given, made), price=Price(Decimal(usd), "list"), http_status=200)
    return key


def list_attempts() -> list[str]:
    """Each as ``state status``, the first one first."""
    rows = LlmAttempt.objects.order_by("opened_at").values_list("state", "http_status")
    return [f"{state} {status}" for state, status in rows]


def assert_books_agree(models: ModelServer) -> None:
    """Requests, attempts, ledger and log say the same, and none of them quotes anything."""
    rows = list(LlmAttempt.objects.all())
    counted = [row for row in rows if row.state == "counted" or row.error_code == "usage_partial"]
    assert len(models.requests) == len(rows)
    assert all((row.workflow_id, row.run_id, row.activity_attempt) == ("prep-asking", RUN, 2) for row in rows)
    assert all(row.closed_at is not None and row.state in ("counted", "unknown") for row in rows)
    assert all(row.input_tokens is row.cost_usd is row.day is None for row in rows if row not in counted)
    checks = compare_day(timezone.now())
    assert all(check.is_even for check in checks), checks
    told = sum((row.input_tokens or 0) + (row.output_tokens or 0) for row in counted)
    assert sum(row.input_tokens + row.output_tokens for row in LlmSpend.objects.all()) == told
    events = JobEventRow.objects.filter(event_type="LlmUsageObserved")
    assert sorted(events.values_list("event_key", flat=True)) == sorted(f"llm:{row.observation_key}" for row in counted)
    for model in (JobEventRow, LlmAttempt, LlmSpend):
        assert_quotes_nothing(str(list(model.objects.values())))


def assert_quotes_nothing(text: str) -> None:
    found = [canary for canary in (KEY, PROMPT, PROFILE) if canary in text]
    assert not found, f"{found} in {text}"


def list_events(*types: str) -> list[dict[str, Any]]:
    return list(JobEventRow.objects.filter(event_type__in=types).order_by("id").values_list("payload", flat=True))
