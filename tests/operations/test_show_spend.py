"""The spend page: today against its limits, what is unknown, and providers that refuse us."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from operations.access.accounts import ensure_operator
from operations.models import JobEventRow, ProviderBreaker
from operations.settings_store import change_settings
from tests.operations.spending import attempt, pause, spend, use_model

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(ensure_operator())
    return client


def read(response: Any) -> str:
    assert response.status_code == 200
    main = response.content.decode().partition("<main")[2] or response.content.decode()
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", main)).split())


def test_it_says_that_the_built_in_engine_costs_nothing(operator: Client) -> None:
    page = read(operator.get("/spend/"))

    assert "The built-in engine does all the work and costs nothing" in page
    assert "Choose an engine" in page
    assert "$0.00" not in page


def test_it_shows_today_by_kind_of_work_against_its_limits(operator: Client) -> None:
    use_model("analysis", "score")
    change_settings({"lane_token_limits": {"score": 1500}}, actor="the test")
    spend("1.84", given=1000, made=200, cached_input_tokens=300, reasoning_output_tokens=50)

    page = read(operator.get("/spend/"))

    assert "$1.84 of $25.00 spent today" in page
    assert "Left today $23.16" in page
    assert "Scoring OpenAI or compatible · gpt-5-mini 1,200 of 1,500 1,000 in (300 of them cached), 200 out" in page
    assert "Near its limit for today: scoring. At 100 % that work waits." in page
    assert "Near its limit</span>" in operator.get("/spend/").content.decode()
    assert "Reading what a posting asks for" in page
    assert "at 00:00 UTC" in page
    assert "not their bill" in page
    assert "Nothing is reserved" in page


def test_it_says_that_work_waits_once_the_limit_is_reached(operator: Client) -> None:
    use_model("score")
    spend("25.10")

    page = read(operator.get("/spend/"))

    assert "Today's limit is reached. Work that needs a model waits until the day ends." in page
    assert "Left today $0.00" in page
    assert "Limit met Reached" in page


def test_it_names_the_lanes_that_are_at_their_limit(operator: Client) -> None:
    use_model("analysis", "score")
    change_settings({"lane_token_limits": {"score": 1200}}, actor="the test")
    spend("0.10")

    assert "At its limit for today: scoring. The other lanes go on." in read(operator.get("/spend/"))


def test_it_never_takes_unknown_use_for_nothing(operator: Client) -> None:
    use_model("score")
    spend("0.10")
    attempt("0.10")
    attempt(http_status=429, model="silent-model")
    attempt(state="open", at=timezone.now() - timedelta(seconds=5), model="asked-just-now")

    page = read(operator.get("/spend/"))

    assert "silent-model OpenAI or compatible 1 1 unknown unknown unknown" in page
    listed = page.partition("Calls of today whose use is unknown")[2]
    assert "it is unknown, not nothing" in listed
    assert "silent-model · it answered with a refusal (HTTP 429)" in listed
    assert "asked-just-now" not in listed


def test_a_lane_that_nobody_told_of_costs_an_unknown_sum(operator: Client) -> None:
    use_model("analysis", "score")
    change_settings({"lane_token_limits": {"score": 1500}}, actor="the test")
    attempt()
    attempt(http_status=200)

    page = read(operator.get("/spend/"))

    assert "What was spent today is unknown; the limit is $25.00" in page
    assert "Spent today Unknown since 00:00 UTC; 2 calls did not say" in page
    assert "Left today At most $25.00" in page
    assert "Limit met Cannot be said no call said what it used" in page
    assert "Scoring OpenAI or compatible · gpt-5-mini unknown of 1,500 2 calls did not say unknown" in page
    assert "gpt-5-mini 0 0 in, 0 out $0.00" in page, "the other lane was not asked"


def test_a_sum_that_lacks_some_calls_is_at_least_that(operator: Client) -> None:
    use_model("analysis", "score")
    spend("0.10")
    attempt("0.10")
    attempt()
    attempt(lane="analysis")

    page = read(operator.get("/spend/"))

    assert "at least $0.10 of $25.00 spent today" in page
    assert "gpt-5-mini at least 1,200 1 call did not say; 1,000 in, 200 out at least $0.10" in page
    assert "gpt-5-mini unknown 1 call did not say unknown" in page


def test_yesterdays_unknown_calls_and_one_on_its_way_say_nothing_of_today(operator: Client) -> None:
    now = timezone.now()
    use_model("score")
    spend("0.10")
    attempt(at=now - timedelta(days=1))
    attempt(state="open", at=now)

    assert " $0.10 of $25.00 spent today" in read(operator.get("/spend/"))


def test_it_draws_thirty_days_and_has_them_as_a_table(operator: Client) -> None:
    use_model("score")
    today = timezone.now().date()
    spend("2.00", day=today - timedelta(days=29))
    spend("9.00", day=today - timedelta(days=30))
    spend("0.50", day=today)

    html = operator.get("/spend/").content.decode()

    assert html.count("<rect") == 30
    assert f"{today - timedelta(days=29)}: $2.00" in html
    assert "$9.00" not in html
    assert "Last 30 days $2.50" in read(operator.get("/spend/"))


def test_a_day_of_unknown_use_is_not_drawn_as_one_without(operator: Client) -> None:
    use_model("score")
    now = timezone.now()
    spend("0.50", day=now.date())
    for days in (0, 3, 3, 40):
        attempt(at=now - timedelta(days=days))

    html = operator.get("/spend/").content.decode()

    assert f"{now.date()}: at least $0.50" in html
    assert f"{now.date() - timedelta(days=3)}: unknown" in html
    assert f"{now.date() - timedelta(days=2)}: $0.00" in html
    assert "Last 30 days At least $0.50" in read(operator.get("/spend/"))


def test_it_answers_its_body_as_a_fragment(operator: Client) -> None:
    html = operator.get("/spend/?fragment=body").content.decode()

    assert html.lstrip().startswith('<div id="spend" data-region="spend settings"')


# --- providers that refuse us ------------------------------------------------------------------


def test_it_shows_a_paused_provider_with_what_waits_and_when_it_is_asked_again(operator: Client) -> None:
    use_model("analysis", "score")
    pause(next_probe_at=timezone.now() + timedelta(minutes=30))

    page = read(operator.get("/spend/"))

    assert "OpenAI or compatible refuses this account: the account is out of credit, since" in page
    assert "What waits: reading what a posting asks for and scoring." in page
    assert "A worker asks it again, with the next work or a question of a few tokens, in 30 min ." in page
    assert "Ask it again now" in page


def test_it_says_quietly_that_no_lane_uses_a_paused_provider_any_more(operator: Client) -> None:
    use_model("score", provider="anthropic")
    pause(next_probe_at=timezone.now() + timedelta(minutes=30))

    page = read(operator.get("/spend/"))

    assert "OpenAI or compatible refused this account: the account is out of credit, since" in page
    assert "No lane uses it now, so nothing waits for it." in page
    assert "Ask it again now" not in page
    assert "note person" not in operator.get("/spend/?fragment=body").content.decode()


def test_it_lets_a_paused_provider_be_asked_at_once_and_notes_who_said_so(operator: Client) -> None:
    pause(next_probe_at=timezone.now() + timedelta(hours=6))

    answer = operator.post("/spend/ask-again/", {"provider": "openai"}, follow=True)

    assert "No lane uses this provider now" in read(answer)
    assert ProviderBreaker.objects.get().next_probe_at <= timezone.now()
    noted = JobEventRow.objects.get(event_type="ProviderAskedAgain")
    assert noted.payload["actor"] == ensure_operator().get_username()


def test_it_asks_no_provider_that_is_not_paused(operator: Client) -> None:
    answer = operator.post("/spend/ask-again/", {"provider": "openai"}, follow=True)

    assert "This provider is not paused; nothing was asked." in read(answer)
    assert not JobEventRow.objects.filter(event_type="ProviderAskedAgain").exists()
