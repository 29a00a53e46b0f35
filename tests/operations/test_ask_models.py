"""Every way in which a provider can end a call, with the providers' own clients against a server on loopback."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from time import sleep
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError

from operations.contracts import StageName, StageState
from operations.database import writer
from operations.errors import OperationsError
from operations.llm import gateway, threads, transport
from operations.llm.errors import AnswerUnusable, ProviderBusy, ProviderPaused, RequestRefused
from operations.llm.ledger import count_attempt
from operations.models import JobEventRow, LlmAttempt, ProviderBreaker
from operations.services.stages import reset_stages
from operations.settings_store import change_settings
from operations.stage_engine import Claim, Owner, StageContext, work_job
from tests.modelserver import Broken, ModelServer, Raw, Step
from tests.modelwires import MODELS, Answer, Refused, Tokens
from tests.operations.asking import (
    PROFILE,
    PROMPT,
    RUN,
    Verdict,
    ask,
    assert_books_agree,
    assert_quotes_nothing,
    list_attempts,
    list_events,
    put_question,
)
from tests.operations.cast import PROFILE_VERSION, Cast, ScriptedStage, get_row, put_row

pytestmark = [pytest.mark.usefixtures("one_connection"), pytest.mark.sqlite_alone]

PROVIDERS = tuple(MODELS)
GOOD = Answer({"score": 7})
WRONG = Answer({"score": "rather good"})
ECHO = f"cannot read {PROMPT} {PROFILE}"
STEERING = "insufficient_quota, your credit balance is too low, API key not valid"
BUSY, UNUSABLE, PAUSED, REFUSED = ProviderBusy, AnswerUnusable, ProviderPaused, RequestRefused


@dataclass(frozen=True, slots=True)
class Case:
    """``attempts`` as ``list_attempts`` has them, ``openais`` where they differ at OpenAI, whose client refuses the
    answer before anybody could ask for its repair. ``error`` ``None`` = the answer is good after all."""

    name: str
    steps: tuple[Step, ...]
    attempts: tuple[str, ...]
    error: type[OperationsError] | None = None
    as_json: bool = False
    streamed: bool = False
    openais: tuple[str, ...] = ()
    seconds: float = 20.0


CASES = (
    Case("by tool", (GOOD,), ("counted 200",)),
    Case("by tool, streamed", (GOOD,), ("counted 200",), streamed=True),
    Case("as JSON", (Answer(text='{"score": 7}'),), ("counted 200",), as_json=True),
    Case("as JSON, streamed", (Answer(text='{"score": 7}'),), ("counted 200",), as_json=True, streamed=True),
    Case("prose around", (Answer(text='Sure! {"score": 7} Glad to help.'),), ("counted 200",), as_json=True),
    Case("in a fence", (Answer(text='Sure!\n```json\n{"score": 7}\n```'),), ("counted 200",), as_json=True),
    Case("prose beside the tool", (Answer({"score": 7}, text="Let me think."),), ("counted 200",)),
    Case("no usage told", (Answer({"score": 7}, tokens=None),), ("unknown 200",)),
    Case("wrong types, repaired", (WRONG, GOOD), ("counted 200", "counted 200")),
    Case("out of range, repaired", (Answer({"score": 11}), GOOD), ("counted 200", "counted 200")),
    Case("no number at all, repaired", (Answer(text="I think it is a good match."), GOOD), ("counted 200",) * 2),
    Case("wrong types twice", (WRONG, WRONG), ("counted 200", "counted 200"), UNUSABLE),
    Case("wrong types, then busy", (WRONG, Refused(503)), ("counted 200", "unknown 503"), BUSY),
    Case("no choices", (Answer(choices=0),) * 2, ("counted 200",) * 2, UNUSABLE, openais=("counted 200",)),
    Case("null content", (Answer(), Answer()), ("counted 200", "counted 200"), UNUSABLE),
    Case("cut by length", (Answer(text='{"sco', end="length"),), ("counted 200",), UNUSABLE, as_json=True),
    Case("refusal", (Answer(end="refusal"),) * 2, ("counted 200",), UNUSABLE),
    Case("no JSON", (Raw(b"<html>"), Raw(b"<html>")), ("unknown 200",), UNUSABLE),
    Case("too many requests", (Refused(429, ECHO, retry_after="7"),), ("unknown 429",), BUSY),
    Case("server error", (Refused(500, ECHO),), ("unknown 500",), BUSY),
    Case("server error, streamed", (Refused(500, ECHO),), ("unknown 500",), BUSY, streamed=True),
    Case("overloaded", (Refused(529, ECHO, "overloaded_error"),), ("unknown 529",), BUSY),
    Case("hung", (Broken(hang_seconds=3.0),), ("unknown None",), BUSY, seconds=1.0),
    Case("hung, streamed", (Broken(hang_seconds=3.0),), ("unknown None",), BUSY, streamed=True, seconds=1.0),
    Case("reset after the request", (Broken(),), ("unknown None",), BUSY),
    Case("reset within the answer", (Broken(share=0.5),), ("unknown 200",), BUSY),
    Case("bad request", (Refused(400, ECHO),), ("unknown 400",), REFUSED),
    Case("a quoted posting", (Refused(400, f"cannot read: {STEERING}"),), ("unknown 400",), REFUSED),
    Case("another address", (Raw(b"moved", status=307),), ("unknown 307",), REFUSED),
    Case("no such model", (Refused(404, ECHO),), ("unknown 404",), REFUSED),
    Case("bad key", (Refused(401, ECHO),), ("unknown 401",), PAUSED),
    Case("payment required", (Refused(402, ECHO),), ("unknown 402",), PAUSED),
    Case("quota used up", (Refused(429, ECHO, "insufficient_quota"),), ("unknown 429",), PAUSED),
    Case("no credit", (Refused(400, "Your credit balance is too low"),), ("unknown 400",), PAUSED),
    Case("bad key as a bad request", (Refused(400, ECHO, "API_KEY_INVALID"),), ("unknown 400",), PAUSED),
)


@pytest.fixture(autouse=True)
def _everything_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.DEBUG):
        yield
    assert_quotes_nothing(caplog.text)


class Work:
    """The score stage of one job, which asks the model and nothing else."""

    def __init__(self, job_id: UUID, stage: ScriptedStage) -> None:
        self.job_id, self.stage = job_id, stage
        put_row(job_id, StageName.ENRICH, StageState.SUCCEEDED)
        put_row(job_id, StageName.SCORE, StageState.PENDING)

    def __call__(self, provider: str) -> Verdict | OperationsError | None:
        """The answer or the error; ``None`` where the stage did not begin."""
        ended: list[Verdict | OperationsError] = []

        def put(_claim: Claim) -> str:
            try:
                ended.append(put_question(provider))
            except OperationsError as error:
                ended.append(error)
                raise
            return "result"

        self.stage.script[:] = [put]
        work_job(self.job_id, StageName.SCORE, StageContext(Owner("prep-asking", RUN, 2), PROFILE_VERSION))
        return ended[0] if ended else None


@pytest.fixture
def work(cast: Cast, stages: dict[StageName, ScriptedStage]) -> Work:
    return Work(cast.backend, stages[StageName.SCORE])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_it_records_every_attempt_and_says_how_it_ended(
    provider: str, case: Case, work: Work, models: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "read_answer_seconds", lambda: case.seconds)
    attempts = list((provider == "openai" and case.openais) or case.attempts)
    choose(as_json=case.as_json, streamed=case.streamed)
    models.script(*case.steps)

    ended = work(provider)

    assert list_attempts() == attempts
    assert [asked.streamed for asked in models.requests] == [case.streamed] * len(attempts)
    assert_books_agree(models)
    assert_settled(work.job_id, case.error)
    if case.error is None:
        assert ended == Verdict(score=7)
    else:
        assert type(ended) is case.error
        assert_quotes_nothing(f"{ended.message} {ended!r} {ended.__cause__!r}")
        assert ended.retryable is issubclass(case.error, BUSY | UNUSABLE)
        monkeypatch.setattr(gateway, "read_answer_seconds", lambda: 20.0)
        assert_next_attempt(provider, work, models, error=case.error)


def assert_settled(job_id: UUID, error: type[OperationsError] | None) -> None:
    """Where the stage stands, and what the log says of it. What waits has used no attempt."""
    row = get_row(job_id, StageName.SCORE)
    ends = [(e.event_type, e.payload.get("errorCode", e.payload.get("reasonCode"))) for e in list_ends(job_id)]
    if error is None:
        assert (row.state, row.attempts, ends) == (StageState.SUCCEEDED, 1, [("StageCompleted", "")])
    elif error is PAUSED:
        assert (row.state, row.reason_code, row.attempts, row.retryable) == (
            StageState.PENDING,
            "provider_paused",
            0,
            True,
        )
        assert ends == [("StageReset", "provider_paused")]
    else:
        failed = (row.state, row.error_code, row.attempts, row.retryable)
        assert failed == (StageState.FAILED, error.code, 1, issubclass(error, BUSY | UNUSABLE))
        assert ends == [("StageFailed", error.code)]


def list_ends(job_id: UUID) -> list[JobEventRow]:
    types = ("StageCompleted", "StageFailed", "StageReset")
    return list(JobEventRow.objects.filter(job_id=job_id, event_type__in=types).order_by("id"))


def assert_next_attempt(provider: str, work: Work, models: ModelServer, *, error: type[OperationsError]) -> None:
    """It goes out where the error may pass by itself. Where the provider refuses the account nothing leaves, and one
    notice says so; a refused request is not sent again before somebody has reset the stage."""
    asked = len(models.requests)
    models.script(Answer({"score": 7}, text='{"score": 7}'))
    change_settings({"structured_output": "tool"}, actor="tester")
    ended = work(provider)
    if error is REFUSED:
        assert ended is None
        assert len(models.requests) == asked
        reset_stages(StageName.SCORE, [work.job_id])
        ended = work(provider)
    paused = error is PAUSED
    assert ended is None or type(ended) is (PAUSED if paused else Verdict)
    assert len(models.requests) == asked + (not paused)
    assert get_row(work.job_id, StageName.SCORE).state == (StageState.PENDING if paused else StageState.SUCCEEDED)
    assert ProviderBreaker.objects.count() == paused
    assert [notice["provider"] for notice in list_events("ProviderPaused")] == [provider] * paused
    assert_books_agree(models)


def choose(*, as_json: bool = False, streamed: bool = False) -> None:
    mode = "json" if as_json else "tool"
    change_settings({"structured_output": mode, "model_streaming": streamed}, actor="tester")


@pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_it_counts_cached_and_reasoning_tokens_within_their_totals(
    provider: str, streamed: bool, models: ModelServer
) -> None:
    choose(streamed=streamed)
    written = 300 if provider == "anthropic" else 0  # the others do not tell
    models.script(Answer({"score": 7}, tokens=Tokens(2000, 90, cached=500, written=written, reasoning=60)))
    assert ask(provider) == Verdict(score=7)
    row = LlmAttempt.objects.get()
    reasoning = 0 if provider == "anthropic" else 60
    assert (row.input_tokens, row.output_tokens) == (2000, 90)
    assert (row.cached_input_tokens, row.reasoning_output_tokens, row.priced_by) == (500, reasoning, "list")
    assert_books_agree(models)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_it_keeps_back_ticks_inside_of_values(provider: str, models: ModelServer) -> None:
    choose(as_json=True)
    models.script(Answer(text='Sure!\n```json\n{"score": 7, "note": "uses `pip` and ```sh``` {}"}\n```\nDone.'))
    assert ask(provider) == Verdict(score=7, note="uses `pip` and ```sh``` {}")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_it_lets_a_wrong_answer_be_repaired_once(provider: str, models: ModelServer) -> None:
    """The repair is told what is wrong, and it is an attempt of its own."""
    models.script(Answer({"score": 3}), GOOD)
    complaint = "That score contradicts the posting."
    assert ask(provider, check=lambda verdict: complaint if verdict.score == 3 else "") == Verdict(score=7)
    assert [complaint in str(asked.body) for asked in models.requests] == [False, True]
    assert list_attempts() == ["counted 200", "counted 200"]
    assert_books_agree(models)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_it_counts_what_a_stream_told_before_it_broke(provider: str, models: ModelServer) -> None:
    choose(streamed=True)
    models.script(Broken(share=0.9, answer=Answer({"score": 7, "note": "x" * 2000})))
    assert type(ask(provider)) is BUSY
    row = LlmAttempt.objects.get()
    told = ("usage_partial", 100) if provider == "anthropic" else (row.error_code, None)
    assert (row.state, row.http_status, row.error_code, row.input_tokens) == ("unknown", 200, *told)
    assert_books_agree(models)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_it_counts_an_answer_that_is_being_written_down_as_its_time_ends(
    provider: str, models: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count_late(*args: Any, **kwargs: Any) -> bool:
        sleep(1.0)
        return count_attempt(*args, **kwargs)

    monkeypatch.setattr(transport, "count_attempt", count_late)
    monkeypatch.setattr(gateway, "read_answer_seconds", lambda: 0.7)
    models.script(GOOD)
    assert type(ask(provider)) is BUSY
    assert list_attempts() == ["counted 200"]
    assert_books_agree(models)


@pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_it_counts_an_answer_that_the_database_takes_only_later(
    provider: str, streamed: bool, models: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[UUID] = []

    def count(key: UUID, **named: Any) -> bool:
        tries.append(key)
        if len(tries) < 3:
            raise OperationalError("database is locked")
        return count_attempt(key, **named)

    monkeypatch.setattr(transport, "count_attempt", count)
    monkeypatch.setattr(threads, "PAUSES", (0.0, 0.01))
    choose(streamed=streamed)
    models.script(GOOD)
    assert ask(provider) == Verdict(score=7)
    assert list_attempts() == ["counted 200"]
    assert_books_agree(models)


@pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer_that_cannot_be_counted_is_an_outage_and_no_providers_failure(
    provider: str, streamed: bool, work: Work, models: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count(key: UUID, **named: Any) -> bool:
        raise OperationalError("database is locked")

    monkeypatch.setattr(transport, "count_attempt", count)
    monkeypatch.setattr(threads, "PAUSES", (0.0,))
    choose(streamed=streamed)
    models.script(GOOD)
    with pytest.raises(OperationalError, match="locked"):
        work(provider)
    assert get_row(work.job_id, StageName.SCORE).state == StageState.RUNNING
    assert list_attempts() == ["unknown 200"]
    assert_books_agree(models)


def test_it_is_never_asked_inside_of_a_write(models: ModelServer) -> None:
    with pytest.raises(RuntimeError, match="never asked inside writer"), writer():
        ask("openai")
    assert models.requests == []


@pytest.mark.parametrize(("told", "seconds"), [("7", 7), ("0", 0), ("86400", 300), ("soon", None), ("", None)])
def test_it_waits_as_long_as_the_provider_asks_within_reason(
    told: str, seconds: int | None, models: ModelServer
) -> None:
    models.script(Refused(429, retry_after=told))
    busy = ask("openai")
    assert isinstance(busy, BUSY)
    assert busy.retry_after == (None if seconds is None else timedelta(seconds=seconds))


def test_it_sends_a_text_from_outside_in_no_system_prompt(models: ModelServer) -> None:
    for provider in PROVIDERS:
        models.script(GOOD)
        ask(provider)
    for asked in models.requests:
        ours: Any = asked.body.get("system") or asked.body.get("systemInstruction") or asked.body["messages"][0]
        assert PROMPT in str(ours) and PROFILE not in str(ours)
        assert PROFILE in str(asked.body)
