"""A provider that refuses the account: its lanes wait, one probe at a time asks again, and the operator is told once."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone as clock
from pytest_django import Settings

from operations.llm import transport
from operations.llm.breaker import pause_provider, resume_provider, wait_before_probe
from operations.llm.calls import Caller
from operations.llm.errors import BudgetExceeded, ProviderBusy, ProviderPaused
from operations.llm.ledger import Target, count_attempt, note_refusal, open_attempt
from operations.models import LlmAttempt, ProviderBreaker
from operations.services import providers
from operations.services.providers import ask_due_providers, start_asking_due_providers
from operations.settings_store import change_settings
from tests.modelserver import ModelServer, Raw
from tests.modelwires import EVENTS, Answer, Refused, write_refusal
from tests.operations.asking import Verdict, ask, assert_books_agree, list_events, spend
from tests.operations.databases import PATIENCE, SharedDatabase
from tests.operations.spending import pause, use_model

NOW = datetime(2026, 7, 3, 12, tzinfo=UTC)
GOOD = Answer({"score": 7})
TARGET = Target("score", "openai", "gpt-5-mini")
Freeze = Callable[[datetime], None]


@pytest.fixture
def freeze(monkeypatch: pytest.MonkeyPatch) -> Freeze:
    def set_clock(now: datetime) -> None:
        monkeypatch.setattr(clock, "now", lambda: now)

    set_clock(NOW)
    return set_clock


def test_it_waits_twice_as_long_before_each_probe_up_to_six_hours() -> None:
    waits = [wait_before_probe(probes) for probes in (*range(10), 10_000)]
    minutes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]
    assert waits == [timedelta(minutes=number) for number in minutes]


def test_it_probes_alone_with_growing_intervals_and_resumes(
    one_connection: None, models: ModelServer, freeze: Freeze
) -> None:
    models.usual = Refused(401)
    assert type(ask("openai")) is ProviderPaused
    expected, now = 1, NOW
    for minutes in (1, 2, 4):
        freeze(now + timedelta(minutes=minutes, seconds=-1))
        waiting = ask("openai")
        assert isinstance(waiting, ProviderPaused) and waiting.until == now + timedelta(minutes=minutes)
        assert len(models.requests) == expected
        now += timedelta(minutes=minutes)
        freeze(now)
        assert type(ask("openai")) is ProviderPaused  # the probe, refused again
        expected += 1
        assert len(models.requests) == expected

    models.usual = GOOD
    freeze(now + timedelta(minutes=8))
    assert [ask("openai"), ask("openai")] == [Verdict(score=7)] * 2
    notice = {"provider": "openai", "reasonCode": "authentication"}
    assert list_events("ProviderPaused", "ProviderResumed") == [notice, {"provider": "openai"}]
    assert_books_agree(models)


def test_it_leaves_the_other_providers_alone(one_connection: None, models: ModelServer) -> None:
    models.script(Refused(402), GOOD, GOOD)
    assert type(ask("anthropic")) is ProviderPaused
    assert [ask("openai"), ask("google")] == [Verdict(score=7)] * 2


@pytest.mark.parametrize(
    ("probe", "resumes"),
    [(Refused(500), False), (Refused(429), False), (Answer(choices=0), True), (Answer({"score": "x"}), True)],
    ids=["busy", "too many requests", "no choices", "wrong types"],
)
def test_it_resumes_where_the_provider_answers_at_all(
    probe: Answer | Refused, resumes: bool, one_connection: None, models: ModelServer, freeze: Freeze
) -> None:
    pause_provider("openai", reason_code="authentication", http_status=401, now=NOW)
    freeze(NOW + timedelta(minutes=1))
    models.script(probe, probe)
    ended = ask("openai")
    assert isinstance(ended, ProviderBusy) is not resumes
    assert ProviderBreaker.objects.exists() is not resumes


def test_one_of_many_workers_probes(shared: SharedDatabase) -> None:
    pause_provider("openai", reason_code="authentication", http_status=401, now=clock.now() - timedelta(minutes=5))

    def try_once() -> bool:
        try:
            open_attempt(TARGET, Caller())
        except ProviderPaused:
            return False
        return True

    admitted = [future.result(PATIENCE) for future in [shared.start(try_once) for _ in range(8)]]
    assert admitted.count(True) == 1
    assert LlmAttempt.objects.count() == 1


def test_only_an_answer_to_what_was_asked_since_resumes(
    one_connection: None, models: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another call was out when the account was refused; its good answer says nothing of the account since."""

    def count_after_a_refusal(*args: Any, **kwargs: Any) -> bool:
        pause_provider("openai", reason_code="out_of_credit", http_status=402, now=clock.now())
        return count_attempt(*args, **kwargs)

    monkeypatch.setattr(transport, "count_attempt", count_after_a_refusal)
    models.usual = GOOD
    assert ask("openai") == Verdict(score=7)
    assert type(ask("openai")) is ProviderPaused
    assert len(models.requests) == 1
    assert list_events("ProviderPaused", "ProviderResumed") == [{"provider": "openai", "reasonCode": "out_of_credit"}]


def test_a_late_refusal_pauses_no_provider_that_has_answered_since(db: None, freeze: Freeze) -> None:
    old = open_attempt(TARGET, Caller())
    freeze(NOW + timedelta(seconds=1))
    spend(given=1)
    assert not note_refusal(old, reason_code="authentication", http_status=401)
    assert not ProviderBreaker.objects.exists()
    freeze(NOW + timedelta(seconds=2))
    assert note_refusal(open_attempt(TARGET, Caller()), reason_code="authentication", http_status=401)
    assert ProviderBreaker.objects.get().provider == "openai"


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google"])
def test_a_refusal_told_in_a_stream_keeps_the_provider_paused(
    provider: str, one_connection: None, models: ModelServer, freeze: Freeze
) -> None:
    change_settings({"model_streaming": True}, actor="tester")
    pause_provider(provider, reason_code="authentication", http_status=401, now=NOW)
    freeze(NOW + timedelta(minutes=1))
    told = write_refusal(provider, Refused(401, "no", "API_KEY_INVALID"))
    event = b"event: error\n" if provider == "anthropic" else b""
    models.script(Raw(event + b"data: " + told + b"\n\n", EVENTS))
    assert type(ask(provider)) is ProviderPaused
    assert len(list_events("ProviderPaused", "ProviderResumed")) == 1
    assert ProviderBreaker.objects.get().probes == 1


def test_it_notices_once_however_many_calls_say_so(db: None) -> None:
    for _ in range(3):
        pause_provider("openai", reason_code="out_of_credit", http_status=402, now=NOW)
    for _ in range(3):
        resume_provider("openai", asked_at=NOW)
    paused = {"provider": "openai", "reasonCode": "out_of_credit"}
    assert list_events("ProviderPaused", "ProviderResumed") == [paused, {"provider": "openai"}]


def test_a_probe_is_not_used_up_where_the_budget_denies_it(db: None, freeze: Freeze) -> None:
    spend(given=1, usd="1")
    change_settings({"daily_budget_usd": 1.0}, actor="tester")
    pause_provider("openai", reason_code="authentication", http_status=401, now=NOW - timedelta(minutes=5))
    with pytest.raises(BudgetExceeded):
        open_attempt(TARGET, Caller())
    assert ProviderBreaker.objects.get().probes == 0


# --- nobody gives it work: the worker asks by itself ---------------------------------------------


def test_a_worker_asks_a_paused_provider_when_its_time_has_come(one_connection: None, models: ModelServer) -> None:
    use_model("score")
    pause(next_probe_at=clock.now() + timedelta(minutes=1))
    assert ask_due_providers() == 0
    assert models.requests == []

    ProviderBreaker.objects.update(next_probe_at=clock.now())
    models.script(Answer({"ready": True}))
    assert ask_due_providers() == 1
    assert not ProviderBreaker.objects.exists()
    assert list_events("ProviderResumed") == [{"provider": "openai"}]
    assert ask_due_providers() == 0
    assert len(models.requests) == LlmAttempt.objects.filter(state="counted").count() == 1


def test_a_worker_that_is_refused_again_waits_longer(one_connection: None, models: ModelServer) -> None:
    use_model("score")
    pause(next_probe_at=clock.now())
    models.usual = Refused(402)
    assert [ask_due_providers(), ask_due_providers()] == [0, 0]
    assert len(models.requests) == 1
    breaker = ProviderBreaker.objects.get()
    assert breaker.probes == 1 and breaker.next_probe_at > clock.now() + timedelta(minutes=1)


@pytest.mark.parametrize("why", ["no lane uses it", "no key is set", "Today's limit for models is used up"])
def test_a_worker_puts_off_what_cannot_be_asked(
    why: str,
    one_connection: None,
    models: ModelServer,
    settings: Settings,
    freeze: Freeze,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(providers, "_said", {})
    caplog.set_level(logging.INFO, logger=providers.__name__)
    pause("anthropic", next_probe_at=NOW)
    ProviderBreaker.objects.update(probes=3)
    settings.ANTHROPIC_API_KEY = "" if "key" in why else "sk-of-a-test"
    if "lane" not in why:
        use_model("score", provider="anthropic", model="claude-sonnet-4-5")
    if "limit" in why:
        spend(given=1, usd="1")
        change_settings({"daily_budget_usd": 1.0}, actor="tester")

    for times in (1, 2):
        now = ProviderBreaker.objects.get().next_probe_at
        freeze(now)
        assert ask_due_providers() == 0
        breaker = ProviderBreaker.objects.get()
        assert (breaker.probes, breaker.next_probe_at) == (3, now + timedelta(minutes=8)), times

    assert start_asking_due_providers() == 0, "nothing is due any more"
    assert models.requests == []
    said = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert len(said) == 1 and said[0][0] == "INFO" and why in said[0][1]


def test_a_provider_without_budget_is_looked_at_again_when_the_day_is_new(
    one_connection: None, models: ModelServer, settings: Settings, freeze: Freeze
) -> None:
    settings.ANTHROPIC_API_KEY = "sk-of-a-test"
    use_model("score", provider="anthropic", model="claude-sonnet-4-5")
    late = NOW.replace(hour=23)
    freeze(late)
    pause("anthropic", next_probe_at=late)
    ProviderBreaker.objects.update(probes=12)
    spend(given=1, usd="1")
    change_settings({"daily_budget_usd": 1.0}, actor="tester")

    ask_due_providers()

    assert ProviderBreaker.objects.get().next_probe_at == late + timedelta(hours=1)
