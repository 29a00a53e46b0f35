"""Trying a provider from the settings page and the API: what is said before and after, and that limits hold for it."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from operations.access.accounts import ensure_operator
from operations.access.tokens import create_token
from operations.models import JobEventRow, LlmAttempt, LlmSpend, ProviderBreaker
from tests.modelserver import ModelServer
from tests.modelwires import Answer, Refused, Tokens
from tests.operations.spending import pause, spend, use_model

pytestmark = pytest.mark.usefixtures("one_connection")

READY = Answer({"ready": True}, tokens=Tokens(40, 6))
ASKED = {"provider": "openai", "model": "gpt-5-mini"}
KEY = "sk-canary-4f1c"


@pytest.fixture(autouse=True)
def _a_key(settings: Settings) -> None:
    settings.OPENAI_API_KEY = KEY


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(ensure_operator())
    return client


def read(response: Any) -> str:
    text = response.content.decode()
    assert KEY not in text
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_it_says_before_what_a_test_does(operator: Client) -> None:
    page = read(operator.get("/settings/"))

    assert "A test asks one question of a few tokens. The provider may charge for it" in page
    assert "OpenAI or compatible Set up A key is set." in page
    assert "No key is set. Put it into ANTHROPIC_API_KEY , or into the file keys/ANTHROPIC_API_KEY" in page


def test_it_says_afterwards_what_it_used(operator: Client, models: ModelServer) -> None:
    models.script(READY)

    page = read(operator.post("/settings/providers/try/", ASKED, follow=True))

    assert "gpt-5-mini of OpenAI or compatible works." in page
    assert "The question used 46 tokens, under $0.01, counted under scoring." in page
    assert len(models.requests) == LlmAttempt.objects.count() == 1
    assert LlmSpend.objects.get().lane == "score"


def test_it_counts_under_the_lane_that_uses_the_model(operator: Client, models: ModelServer) -> None:
    use_model("analysis")
    models.script(READY)

    assert "counted under reading what a posting asks for" in read(
        operator.post("/settings/providers/try/", ASKED, follow=True)
    )


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Refused(401), "refuses this account: its key or its credit needs a look"),
        (Refused(404), "refused the request (HTTP 404). Check the lane's model in Settings."),
        (Refused(503), "could not answer now (HTTP 503)"),
    ],
)
def test_it_says_in_words_why_it_did_not_pass(operator: Client, models: ModelServer, step: Refused, said: str) -> None:
    models.script(step)

    page = read(operator.post("/settings/providers/try/", ASKED, follow=True))

    assert "gpt-5-mini of OpenAI or compatible did not pass" in page
    assert said in page
    assert "What the question used is unknown." in page


def test_the_days_limit_holds_for_it_too(operator: Client, models: ModelServer) -> None:
    spend("25")

    page = read(operator.post("/settings/providers/try/", ASKED, follow=True))

    assert "Today's limit for models is used up." in page
    assert "Nothing was asked, so nothing was spent." in page
    assert models.requests == []


def test_a_paused_provider_is_not_asked_from_here(operator: Client, models: ModelServer) -> None:
    pause(next_probe_at=timezone.now() + timedelta(hours=1))

    page = read(operator.post("/settings/providers/try/", ASKED, follow=True))

    assert "Nothing was asked" in page
    assert models.requests == []


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"provider": "openai", "model": " "}, "Model: name one in up to 120 plain characters"),
        ({"provider": "openai", "model": "x" * 121}, "Model: name one"),
        ({"provider": "builtin", "model": "x"}, "There is no such provider."),
        ({"provider": "anthropic", "model": "claude"}, "Anthropic: no key is set. Put it into ANTHROPIC_API_KEY"),
    ],
)
def test_it_asks_nothing_that_cannot_be_asked(
    operator: Client, models: ModelServer, settings: Settings, form: dict[str, str], said: str
) -> None:
    settings.ANTHROPIC_API_KEY = ""
    assert said in read(operator.post("/settings/providers/try/", form, follow=True))
    assert models.requests == []


# --- a paused provider is asked again ----------------------------------------------------------


def test_asking_again_lets_its_work_go_on_where_it_answers(operator: Client, models: ModelServer) -> None:
    use_model("score")
    pause(next_probe_at=timezone.now() + timedelta(hours=6))
    models.script(READY)

    page = read(operator.post("/spend/ask-again/", {"provider": "openai"}, follow=True))

    assert "works. The question used 46 tokens" in page
    assert "It is no longer paused" in page
    assert not ProviderBreaker.objects.exists()
    assert JobEventRow.objects.filter(event_type="ProviderResumed").exists()


def test_asking_again_leaves_it_paused_where_it_refuses(operator: Client, models: ModelServer) -> None:
    use_model("score")
    pause(next_probe_at=timezone.now() + timedelta(hours=6))
    models.script(Refused(402))

    page = read(operator.post("/spend/ask-again/", {"provider": "openai"}, follow=True))

    assert "did not pass" in page
    assert ProviderBreaker.objects.get().next_probe_at > timezone.now()


# --- the API -----------------------------------------------------------------------------------


@pytest.fixture
def script() -> Client:
    _, token = create_token(ensure_operator(), label="tests", now=timezone.now())
    return Client(headers={"Authorization": f"Bearer {token}"})


def post(script: Client, body: dict[str, str]) -> Any:
    return script.post("/v1/settings/actions/test-provider", body, content_type="application/json")


def test_the_api_answers_whether_it_works_and_what_it_cost(script: Client, models: ModelServer) -> None:
    models.script(READY)

    body = post(script, {**ASKED, "lane": "tailor"}).json()

    assert (body["works"], body["error"], body["lane"], body["tokens"]) == (True, "", "tailor", 46)
    assert 0 < body["costUsd"] < 0.01


def test_the_api_never_takes_unknown_cost_for_nothing(script: Client, models: ModelServer) -> None:
    models.script(Refused(503))

    body = post(script, ASKED).json()

    assert (body["works"], body["error"], body["calls"], body["unknownCalls"], body["costUsd"]) == (
        False, "llm_transient", 1, 1, None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"provider": "openai"}, 400, "model"),
        ({"provider": "nobody", "model": "x"}, 400, "provider"),
        ({**ASKED, "lane": "typing"}, 400, "lane"),
        ({"provider": "google", "model": "gemini"}, 409, "no key is set"),
    ],
)
def test_the_api_refuses_what_cannot_be_asked(script: Client, body: dict[str, str], status: int, said: str) -> None:
    answer = post(script, body)

    assert answer.status_code == status
    assert said in answer.content.decode()
