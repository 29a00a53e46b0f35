"""``GET /v1/spend``: figures for scripts, and the ledger as a sheet."""

from datetime import timedelta

import pytest
from django.utils import timezone

from operations.settings_store import change_settings
from tests.operations.api.conftest import Script
from tests.operations.spending import attempt, pause, spend, use_model


def test_it_answers_today_by_lane_and_what_is_left(script: Script) -> None:
    use_model("score")
    change_settings({"lane_token_limits": {"score": 2000}}, actor="the test")
    spend("1.84", cached_input_tokens=300)
    attempt("1.84")
    attempt()
    pause(next_probe_at=timezone.now() + timedelta(hours=1))

    body = script.send("GET", "/v1/spend").json()

    assert (body["spentUsd"], body["ceilingUsd"], body["leftUsd"]) == (1.84, 25.0, 23.16)
    assert body["resetsAt"] == f"{timezone.now().date() + timedelta(days=1)}T00:00:00Z"
    score = next(lane for lane in body["lanes"] if lane["lane"] == "score")
    assert (score["tokens"], score["tokensLeft"], score["cachedInputTokens"], score["level"]) == (
        1200,
        800,
        300,
        "within",
    )
    assert (score["provider"], score["model"]) == ("openai", "gpt-5-mini")
    assert body["models"] == [
        {"provider": "openai", "model": "gpt-5-mini", "calls": 2, "unknown": 1, "tokens": 1200, "costUsd": 1.84}
    ]
    assert (body["unknownCalls"], body["ceilingMetAt"], body["ceilingMetReason"]) == (1, None, "too_early")
    assert body["paused"][0]["reasonCode"] == "out_of_credit"
    assert (len(body["history"]), body["history"][-1]["costUsd"]) == (30, 1.84)


def test_what_nobody_told_is_null_with_the_calls_beside_it(script: Script) -> None:
    use_model("score")
    attempt()
    attempt()

    body = script.send("GET", "/v1/spend").json()

    assert (body["spentUsd"], body["unknownCalls"], body["leftUsd"]) == (None, 2, 25.0)
    assert body["ceilingMetReason"] == "unknown"
    lanes = {lane["lane"]: (lane["costUsd"], lane["tokens"], lane["unknownCalls"]) for lane in body["lanes"]}
    assert (lanes["score"], lanes["analysis"]) == ((None, None, 2), (0.0, 0, 0))
    assert [(model["costUsd"], model["tokens"], model["unknown"]) for model in body["models"]] == [(None, None, 2)]
    days = [(day["costUsd"], day["tokens"], day["unknownCalls"]) for day in body["history"]]
    assert (days[0], days[-1]) == ((0.0, 0, 0), (None, None, 2))


def test_it_has_nothing_left_to_say_without_a_ceiling(script: Script) -> None:
    change_settings({"daily_budget_usd": 0}, actor="the test")

    body = script.send("GET", "/v1/spend?days=2").json()

    assert (body["leftUsd"], body["level"], body["ceilingMetReason"]) == (None, "within", "unlimited")
    assert len(body["history"]) == 2


def test_it_gives_the_ledger_as_a_sheet(script: Script) -> None:
    today = timezone.now().date()
    spend("0.50", day=today - timedelta(days=3))
    spend("1.84")
    spend("9.00", day=today - timedelta(days=10))

    answer = script.send("GET", "/v1/spend?format=csv&days=7")

    lines = answer.content.decode().splitlines()
    assert lines[0].startswith("day,lane,input_tokens,output_tokens")
    assert [line.rpartition(",")[2] for line in lines[1:]] == ["1.840000", "0.500000"]
    assert "spend.csv" in answer["Content-Disposition"]


@pytest.mark.parametrize(
    ("query", "field"), [("days=0", "days"), ("days=367", "days"), ("days=x", "days"), ("format=xml", "format")]
)
def test_it_refuses_what_it_cannot_read(script: Script, query: str, field: str) -> None:
    answer = script.send("GET", f"/v1/spend?{query}")

    assert answer.status_code == 400
    assert field in answer.json()["fields"]
