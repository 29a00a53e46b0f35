"""The words for states and codes."""

import re
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from materials.rendering.failures import RenderCode
from operations.contracts import ENROLLED_STAGES, ErrorCode, RunStatus, StageName, StageState
from operations.wording import (
    STRIP_STAGES,
    StageMark,
    Tone,
    count_of,
    describe_code,
    describe_job,
    describe_money,
    describe_run,
    describe_seconds,
    describe_stage,
    mark_stage,
    name_workflow,
)
from operations.wording.quantities import describe_reset

ROOT = Path(__file__).resolve().parents[2]
APPS = ("operations", "discovery", "scoring", "materials")
#: Upper-case codes that code raises by name; those of an app's own exceptions stand as ``code = "..."``.
CODE = re.compile(r'\bcode ?= ?"([A-Z][A-Z_]+)"')
NEVER_SHOWN = {"ILLEGAL_TRANSITION"}

DONE = dict.fromkeys((str(stage) for stage in STRIP_STAGES), "succeeded")


def _codes_in_source() -> set[str]:
    files = (path for app in APPS for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts)
    raised = {code for path in files for code in CODE.findall(path.read_text(encoding="utf-8"))}
    return raised | {code.upper() for code in RenderCode}


def test_it_has_words_for_every_code_that_a_stage_or_run_can_end_with() -> None:
    codes = (_codes_in_source() | set(ErrorCode)) - NEVER_SHOWN

    assert [code for code in sorted(codes) if describe_code(code) is None] == []


def test_it_keeps_codes_out_of_every_sentence() -> None:
    for code in _codes_in_source() | set(ErrorCode):
        reason = describe_code(code)
        if reason is not None:
            assert not re.search(r"[a-z]_[a-z]", reason.short + reason.remedy), code


def test_it_has_no_words_for_an_unknown_code() -> None:
    assert describe_code("") is None
    assert describe_code("SOMETHING_NEW") is None


@pytest.mark.parametrize("stage", [*ENROLLED_STAGES, StageName.PDF])
@pytest.mark.parametrize("state", list(StageState))
def test_it_words_every_state_of_every_stage(stage: StageName, state: StageState) -> None:
    wording = describe_stage(stage, state)

    assert wording.word[0].isupper()
    assert "_" not in wording.word + wording.sentence


@pytest.mark.parametrize(
    ("stage", "state", "details", "word", "tone"),
    [
        ("cover", "running", {}, "Writing cover letter", Tone.RUNNING),
        ("score", "succeeded", {}, "Scored", Tone.GOOD),
        ("tailor", "queued", {}, "In line for tailoring", Tone.WAITING),
        ("tailor", "pending", {"code": "provider_paused"}, "Waits for the model provider", Tone.WAITING),
        ("tailor", "pending", {"code": "retry"}, "Waits for a resume", Tone.IDLE),
        (
            "enrich",
            "failed",
            {"code": "RATE_LIMITED", "attempt": 2, "max_attempts": 5},
            "Reading is tried again (2 of 5): the site asks us to slow down",
            Tone.WAITING,
        ),
        (
            "tailor",
            "failed",
            {"code": "NOT_GROUNDED", "retryable": False},
            "Tailoring failed: a claim without evidence",
            Tone.PERSON,
        ),
        ("enrich", "exhausted", {}, "Reading failed too often", Tone.PERSON),
        ("apply", "needs_verification", {}, "Check whether it was sent", Tone.PERSON),
        ("tailor", "skipped", {"code": "MIN_SCORE"}, "Below your threshold", Tone.IDLE),
        ("score", "blocked", {"code": "POSTING_CLOSED", "blocked_by": "enrich"}, "The posting is closed", Tone.IDLE),
        (
            "tailor",
            "blocked",
            {"code": "LOW_CONFIDENCE", "blocked_by": "enrich"},
            "Tailoring is held up: the posting could not be read with confidence",
            Tone.WAITING,
        ),
        ("cover", "blocked", {"code": "UPSTREAM_FAILED", "blocked_by": "tailor"}, "Waits for tailoring", Tone.IDLE),
    ],
)
def test_it_says_what_a_stage_does_or_waits_for(
    stage: str, state: str, details: dict[str, Any], word: str, tone: Tone
) -> None:
    wording = describe_stage(stage, state, **details)

    assert (wording.word, wording.tone) == (word, tone)


def test_it_says_when_work_that_waits_for_the_budget_may_go_on() -> None:
    wording = describe_stage("tailor", "pending", code="budget")

    assert re.fullmatch(r"Waits for the budget, resets in (a moment|\d+ (h|min))", wording.word)
    assert wording.tone is Tone.WAITING


@pytest.mark.parametrize(
    ("now", "words"),
    [("2026-11-29T20:40:00+00:00", "resets in 3 h"), ("2026-11-29T23:30:00-05:00", "resets in 19 h")],
)
def test_it_resets_at_midnight_utc_wherever_the_reader_is(now: str, words: str) -> None:
    assert describe_reset(datetime.fromisoformat(now)) == words


@pytest.mark.parametrize("state", list(StageState))
def test_it_uses_red_only_where_a_person_is_needed(state: StageState) -> None:
    wording = describe_stage("score", state, code="internal", retryable=False)

    is_stuck = state in (StageState.FAILED, StageState.EXHAUSTED, StageState.NEEDS_VERIFICATION)
    assert (wording.tone is Tone.PERSON) is is_stuck
    assert not is_stuck or wording.sentence


@pytest.mark.parametrize(
    ("entry", "mark"),
    [
        (None, StageMark.TODO),
        ("pending", StageMark.TODO),
        ("skipped", StageMark.TODO),
        ("blocked", StageMark.TODO),
        ("running", StageMark.RUNNING),
        ("succeeded", StageMark.DONE),
        ("stale", StageMark.WAITING),
        ("failed", StageMark.FAILED),
        ({"state": "failed", "retryable": True}, StageMark.WAITING),
        ({"state": "failed", "retryable": False, "errorCode": "NOT_GROUNDED"}, StageMark.FAILED),
        ({"state": "exhausted"}, StageMark.FAILED),
        ({"state": "running", "ownerLost": True}, StageMark.UNKNOWN),
    ],
)
def test_it_fills_a_block_by_state(entry: Any, mark: StageMark) -> None:
    assert mark_stage(entry) is mark


@pytest.mark.parametrize(
    ("stages", "details", "word"),
    [
        ({}, {}, "Waits to be read"),
        ({"enrich": "succeeded", "score": "running"}, {}, "Scoring"),
        ({"score": {"state": "running", "ownerLost": True}}, {}, "Unknown: its run cannot be found"),
        ({**DONE, "pdf": "pending"}, {}, "Waits to be printed"),
        (DONE, {}, "Documents ready"),
        ({**DONE, "apply": "succeeded"}, {}, "Applied"),
        ({**DONE, "score": "failed", "tailor": "running"}, {}, "Tailoring the resume"),
        (
            {"enrich": "succeeded", "score": "succeeded", "tailor": "skipped"},
            {"fit_score": 5, "threshold": 7},
            "Below your threshold of 7",
        ),
        ({"enrich": "succeeded"}, {"active_state": "closed"}, "The posting is closed"),
        ({"enrich": "running"}, {"deleted": True}, "You deleted this job"),
        (DONE, {"hidden": True}, "You hid this job"),
        ({"enrich": {"state": "failed", "errorCode": "NOT_FOUND"}}, {}, "Reading failed: the page is gone"),
    ],
)
def test_it_says_one_thing_about_a_job(stages: dict[str, Any], details: dict[str, Any], word: str) -> None:
    assert describe_job(stages, **details).word == word


@pytest.mark.parametrize("status", list(RunStatus))
def test_it_words_every_end_of_a_run(status: RunStatus) -> None:
    wording = describe_run(status, error_code="configuration")

    assert "_" not in wording.word
    assert wording.word[0].isupper()


def test_it_tells_a_run_that_stops_from_one_whose_end_is_unknown() -> None:
    assert describe_run("in_progress", cancel_requested=True).word == "Stopping"
    assert describe_run("terminated", provisional=True).tone is Tone.UNKNOWN
    assert describe_run("canceled", reason_code="cancel_requested").word == "Canceled"


def test_it_names_a_workflow_as_people_call_it() -> None:
    assert name_workflow("DiscoverWorkflow") == "Discovery"
    assert name_workflow("SomethingElse") == "SomethingElse"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.42, "0.4 s"),
        (9.96, "10 s"),
        (59.6, "1 min"),
        (41, "41 s"),
        (185, "3 min 5 s"),
        (7800, "2 h 10 min"),
        (345600, "4 d"),
        (-1, "0 s"),
    ],
)
def test_it_writes_a_length_of_time_in_two_units(seconds: float, text: str) -> None:
    assert describe_seconds(seconds) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [(None, "cost unknown"), (0, "$0.00"), (Decimal("0.0004"), "under $0.01"), (1.835, "$1.84"), (1234.5, "$1,234.50")],
)
def test_it_never_shows_an_unknown_cost_as_nothing(amount: Any, text: str) -> None:
    assert describe_money(amount) == text


def test_it_counts_with_the_right_noun() -> None:
    assert [count_of(1, "job"), count_of(1204, "job"), count_of(2, "entry", "entries")] == [
        "1 job",
        "1,204 jobs",
        "2 entries",
    ]
