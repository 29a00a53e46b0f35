"""The score stage with a model on loopback: what is scored, what is recorded, and how it fails or waits."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from discovery.contracts import ActiveState, ContentTier, PageContent
from discovery.models import Job
from discovery.queries import get_posting, get_profile
from discovery.services.enrichment import save_snapshot
from discovery.services.profiles import import_profile
from operations import engines as seam
from operations.contracts import StageName
from operations.database import writer
from operations.models import JobEventRow, LlmAttempt, LlmSpend
from operations.services.stages import reset_stages
from operations.settings_store import change_settings
from operations.stage_engine.rows import void_leases
from scoring import engines
from scoring.contracts import Analysis, Fit, FitReport
from scoring.models import JobScore, PostingAnalysis
from scoring.queries import find_score_value, get_score
from scoring.services import save_analysis
from tests.discovery.cast import BACKEND, get_stage_row, list_events
from tests.materials.candidate import SAMPLE
from tests.modelserver import ModelServer
from tests.modelwires import Answer, Refused
from tests.operations.asking import KEY
from tests.scoring.model_answers import ask_for, judge_all, list_lanes, split_messages
from tests.scoring.model_cast import ENGINE, analyze, enrich, judge, list_attempts, score, use_models

pytestmark = pytest.mark.usefixtures("one_connection")

Check = Callable[[], None]
BOTH = ("analysis", "score")
PLACE = ask_for("Strong knowledge of Django and PostgreSQL") | {"scope": "logistics"}
VAGUE = Answer(text="I think it is a good match.")


@pytest.fixture(autouse=True)
def candidate(db: None) -> None:
    import_profile(SAMPLE.read_bytes())
    use_models(*BOTH)


def read_ledger() -> dict[str, int]:
    return {row.lane: row.input_tokens + row.output_tokens for row in LlmSpend.objects.all()}


# --- what is scored and recorded ---------------------------------------------------------------


def test_it_computes_the_score_from_a_models_report(models: ModelServer, assert_rebuild_matches: Check) -> None:
    job_id = enrich()
    models.script(analyze(), judge(Fit.DIRECT, Fit.DIRECT, Fit.STRONG, Fit.MISSING))

    assert score(job_id).state == "succeeded"

    row, found = JobScore.objects.get(), get_score(job_id)
    # 2 and 1 in full and 1 x 0.85, each a must; 0.5 wished for and missing
    assert (row.awarded, row.possible, row.value) == (pytest.approx(4.8125), pytest.approx(5.5), 9)
    assert [item.requirement.text for item in found.report.items][1] == "5+ years of experience with Python"
    assert found.report.items[2].requirement.terms == ("Django", "PostgreSQL")
    assert "Python" in found.report.summary
    assert (row.engine, found.report.engine, PostingAnalysis.objects.get().engine) == (ENGINE,) * 3
    assert_rebuild_matches()


def test_it_records_each_call_with_its_job_stage_and_lane(models: ModelServer) -> None:
    job_id = enrich()
    models.script(analyze(), judge())

    score(job_id)

    assert list_attempts(job_id) == [("analysis", "score", "counted"), ("score", "score", "counted")]
    rows = LlmAttempt.objects.all()
    assert {(row.workflow_id, row.run_id) for row in rows} == {(f"prep-{job_id}", "run-1")}
    assert read_ledger() == {"analysis": 120, "score": 120}
    assert [event["lane"] for event in list_events("LlmUsageObserved")] == list(BOTH)


def test_it_tells_a_model_nothing_of_who_the_candidate_is_and_keeps_the_posting_out_of_its_orders(
    models: ModelServer,
) -> None:
    job_id = enrich()
    models.script(analyze(), judge())

    score(job_id)

    profile = get_profile(1)
    for asked in models.requests:
        orders, material = split_messages(asked.body)
        assert "Northwind" not in orders and "Django" not in orders
        assert "<data " in material
        for told in (profile.name, profile.email, profile.phone, "@", "http"):
            assert not told or told not in orders + material
    assert "Northwind Ferries" in split_messages(models.requests[0].body)[1]


def test_it_leaves_out_and_counts_what_the_posting_does_not_say(models: ModelServer) -> None:
    job_id = enrich()
    models.script(
        analyze(ask_for("Twenty years of Fortran"), ask_for("5+ years of experience with Python")), judge(Fit.DIRECT)
    )

    assert score(job_id).state == "succeeded"

    assert PostingAnalysis.objects.get().dropped == 1
    report = get_score(job_id).report
    assert [item.requirement.text for item in report.items] == ["5+ years of experience with Python"]
    assert report.warnings[0] == "requirements_unfounded"


@pytest.mark.parametrize(("lane", "asked"), [("analysis", ["analysis"]), ("score", ["score"])])
def test_each_lane_has_an_engine_of_its_own(
    lane: str, asked: list[str], models: ModelServer, monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Check
) -> None:
    use_models(lane)
    job_id = enrich()
    models.usual = lambda request: analyze() if lane == "analysis" else judge_all(request)

    assert score(job_id).state == "succeeded"

    assert list_lanes(models) == asked == [name for name, _, _ in list_attempts(job_id)]
    row, analysis = JobScore.objects.get(), PostingAnalysis.objects.get()
    assert {analysis.engine, row.engine} == {ENGINE, "builtin"}
    assert (row.engine == ENGINE) is (lane == "score")
    if lane == "analysis":
        python = get_score(job_id).report.items[1]
        assert (python.requirement.terms, python.fit) == (("Python",), Fit.DIRECT)
    assert_rebuild_matches()


# --- a retry pays for nothing twice ------------------------------------------------------------


def test_a_retry_pays_for_no_analysis_twice(models: ModelServer, assert_rebuild_matches: Check) -> None:
    job_id = enrich()
    models.script(analyze(), Refused(503), judge())

    first = score(job_id)
    second = score(job_id, attempt=2)

    assert (first.state, first.code, second.state) == ("failed", "llm_transient", "succeeded")
    assert list_lanes(models) == ["analysis", "score", "score"]
    assert PostingAnalysis.objects.count() == 1 == len(list_events("EmployerAnalyzed"))
    assert JobScore.objects.get().analysis_version == PostingAnalysis.objects.get().version
    assert_rebuild_matches()


@pytest.mark.parametrize("change", ["content", "model"])
def test_it_reads_again_what_has_changed(change: str, models: ModelServer) -> None:
    job_id = enrich()
    models.script(analyze(), judge(), analyze(), judge())
    score(job_id)

    if change == "content":
        description = BACKEND.description + "\nWe meet in Austin."
        with writer():
            save_snapshot(
                Job.objects.get(id=job_id),
                PageContent(ContentTier.SOURCE_PAYLOAD, description=description, active=ActiveState.ACTIVE),
            )
    else:
        change_settings({"model": {"analysis": "gpt-5", "score": "gpt-5-mini"}}, actor="tester")
    reset_stages(StageName.SCORE, [job_id])

    assert score(job_id, run="run-2").state == "succeeded"
    assert list_lanes(models) == [*BOTH, *BOTH]
    assert [row.version for row in PostingAnalysis.objects.order_by("version")] == [1, 2]


# --- answers that cannot be used ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "lanes"),
    [
        (VAGUE, None, ["analysis"] * 2),
        (analyze(ask_for("Twenty years of Fortran")), None, ["analysis"] * 2),
        (analyze(ask_for("5+ years of experience with Python", weight=1000)), None, ["analysis"] * 2),
        (None, VAGUE, ["analysis", "score", "score"]),
        (None, Answer({"score": 10}), ["analysis", "score", "score"]),
    ],
    ids=["no analysis", "only made-up quotes", "a weight out of bounds", "no judgement", "a number instead"],
)
def test_an_unusable_answer_is_a_failure_and_no_score(
    first: Answer | None, second: Answer | None, lanes: list[str], models: ModelServer, assert_rebuild_matches: Check
) -> None:
    job_id = enrich()
    models.script(*((first, first) if first else (analyze(), second, second)))  # type: ignore[arg-type]

    report = score(job_id)

    row = get_stage_row(job_id, "score")
    assert (report.state, report.code, row.retryable, row.attempts) == ("failed", "LLM_ANSWER_UNUSABLE", True, 1)
    assert list_lanes(models) == lanes
    assert not JobScore.objects.exists()
    assert {state for _, _, state in list_attempts(job_id)} == {"counted"}
    assert_rebuild_matches()


def test_it_asks_once_for_a_repair(models: ModelServer) -> None:
    job_id = enrich()
    models.script(analyze(), judge(Fit.DIRECT), judge())

    assert score(job_id).state == "succeeded"

    complaint = split_messages(models.requests[2].body)[1]
    assert "not judged: req-2, req-3, req-4" in complaint


@pytest.mark.parametrize("asked", [[], [PLACE]], ids=["nothing", "a place only"])
def test_an_analysis_that_asks_nothing_of_a_resume_ends_the_stage(
    asked: list[Any], models: ModelServer, assert_rebuild_matches: Check
) -> None:
    job_id = enrich()
    nothing = Answer({"requirements": asked})
    models.script(nothing, nothing, analyze(), judge())

    report = score(job_id)

    assert (report.state, report.code) == ("failed", "ANALYSIS_EMPTY")
    assert get_stage_row(job_id, "score").retryable is False
    assert list_lanes(models) == ["analysis", "analysis"]
    assert "give the same answer again" in split_messages(models.requests[1].body)[1]
    assert not PostingAnalysis.objects.exists() and not JobScore.objects.exists()

    reset_stages(StageName.SCORE, [job_id])  # a person's own wish: it is read again
    assert score(job_id, run="run-2").state == "succeeded"
    assert list_lanes(models) == ["analysis", "analysis", *BOTH]
    assert_rebuild_matches()


def test_it_believes_the_second_answer_where_the_first_was_empty(models: ModelServer) -> None:
    job_id = enrich()
    models.script(Answer({"requirements": []}), analyze(), judge())

    assert score(job_id).state == "succeeded"
    assert list_lanes(models) == ["analysis", "analysis", "score"]


def test_made_up_quotes_and_then_none_are_an_empty_analysis(models: ModelServer) -> None:
    job_id = enrich()
    models.script(analyze(ask_for("Twenty years of Fortran")), Answer({"requirements": []}))

    assert score(job_id).code == "ANALYSIS_EMPTY"
    assert list_lanes(models) == ["analysis", "analysis"]


def test_it_asks_again_where_an_empty_analysis_was_kept(models: ModelServer) -> None:
    job_id = enrich()
    with writer():
        save_analysis(job_id, Analysis((), engine=ENGINE), snapshot_version=get_posting(job_id).snapshot_version)
    models.script(analyze(), judge())

    assert score(job_id).state == "succeeded"
    assert list_lanes(models) == ["analysis", "score"]
    assert PostingAnalysis.objects.count() == 2


def test_a_models_report_that_does_not_hold_may_be_tried_again(
    models: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge_badly(request: engines.AssessmentRequest, analysis: Any) -> FitReport:
        report = engines.judge_with_builtin(request, analysis)
        return replace(report, items=tuple(replace(item, evidence_ids=("made-up",)) for item in report.items))

    monkeypatch.setattr(engines, "choose_judge", lambda: (ENGINE, judge_badly))
    job_id = enrich()
    models.script(analyze())

    report = score(job_id)

    assert (report.state, report.code) == ("failed", "REPORT_INVALID")
    assert get_stage_row(job_id, "score").retryable is True
    assert not JobScore.objects.exists()


def test_it_asks_no_model_about_an_empty_posting(models: ModelServer) -> None:
    job_id = enrich()
    with writer():
        save_snapshot(
            Job.objects.get(id=job_id),
            PageContent(ContentTier.SOURCE_PAYLOAD, description=" \n ", active=ActiveState.ACTIVE),
        )

    assert score(job_id).code == "POSTING_EMPTY"

    assert models.requests == [] and not LlmAttempt.objects.exists()


# --- what it waits for, and what is not set up -------------------------------------------------


def assert_waits(job_id: Any, *, reason: str) -> None:
    row = get_stage_row(job_id, "score")
    assert (row.state, row.reason_code, row.attempts) == ("pending", reason, 0)
    assert list_events("StageReset")[-1]["reasonCode"] == reason
    assert find_score_value(job_id) is None


def spend(lane: str, *, tokens: int = 0, cost: str = "0") -> None:
    today = timezone.now().date()
    LlmSpend.objects.create(day=today, lane=lane, input_tokens=tokens, cost_usd=Decimal(cost))


def test_it_waits_for_the_budget_without_losing_an_attempt(models: ModelServer, assert_rebuild_matches: Check) -> None:
    job_id = enrich()
    spend("tailor", cost="25")

    report = score(job_id)

    assert (report.state, report.code) == ("pending", "budget_exceeded")
    assert models.requests == []
    assert_waits(job_id, reason="budget")
    assert_rebuild_matches()


def test_it_goes_on_where_the_budget_stopped_it_between_the_lanes(models: ModelServer) -> None:
    job_id = enrich()
    spend("score", tokens=500)
    change_settings({"lane_token_limits": {"score": 500}}, actor="tester")
    models.script(analyze(), judge())

    assert score(job_id).code == "budget_exceeded"
    assert_waits(job_id, reason="budget")
    change_settings({"lane_token_limits": {"score": 5000}}, actor="tester")

    assert score(job_id, attempt=2).state == "succeeded"
    assert list_lanes(models) == ["analysis", "score"]
    assert get_stage_row(job_id, "score").attempts == 1


def test_it_waits_for_a_provider_that_refuses_the_account(models: ModelServer, assert_rebuild_matches: Check) -> None:
    job_id = enrich()
    models.script(Refused(401, f"wrong key {KEY}"))

    assert score(job_id).state == "pending"

    assert_waits(job_id, reason="provider_paused")
    assert list_attempts(job_id) == [("analysis", "score", "unknown")]
    assert KEY not in str(list(JobEventRow.objects.values_list("payload", flat=True)))
    assert_rebuild_matches()


@pytest.mark.parametrize("lane", BOTH)
def test_a_lane_without_a_model_fails_before_anything_is_paid(lane: str, models: ModelServer) -> None:
    change_settings({"model": {other: "gpt-5-mini" for other in BOTH if other != lane}}, actor="tester")
    job_id = enrich()

    report = score(job_id)

    row = get_stage_row(job_id, "score")
    assert (report.state, report.code, row.retryable) == ("failed", "configuration", False)
    assert f"no model is named for the {lane} lane" in row.error_message
    assert models.requests == []


def test_a_provider_that_nobody_knows_is_not_set_up(models: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (engines, seam):
        monkeypatch.setattr(module, "get_lane_provider", lambda lane: "oracle")
    job_id = enrich()

    assert score(job_id).code == "configuration"

    assert "oracle" in get_stage_row(job_id, "score").error_message


# --- what happens in the meantime --------------------------------------------------------------


@pytest.mark.parametrize(("calls", "analyses"), [(1, 0), (2, 1)], ids=["while it reads", "while it compares"])
def test_a_cancellation_in_flight_counts_the_use_and_publishes_nothing(
    calls: int, analyses: int, models: ModelServer, assert_rebuild_matches: Check
) -> None:
    job_id = enrich()
    models.script(analyze(), judge())

    report = score(job_id, is_cancelled=lambda: len(models.requests) >= calls)

    assert report.state == "canceled"
    assert [state for _, _, state in list_attempts(job_id)] == ["counted"] * calls
    assert sum(read_ledger().values()) == 120 * calls
    assert PostingAnalysis.objects.count() == analyses
    assert not JobScore.objects.exists() and not list_events("JobScored")
    assert_rebuild_matches()


def test_a_worker_that_stops_between_the_lanes_leaves_the_other_to_the_next(
    models: ModelServer, assert_rebuild_matches: Check
) -> None:
    job_id = enrich()
    models.script(analyze(), judge())

    report = score(job_id, must_stop=lambda: len(models.requests) >= 1)

    row = get_stage_row(job_id, "score")
    assert (report.state, report.code) == ("pending", "worker_shutdown")
    assert (row.state, row.attempts, row.reason_code) == ("pending", 0, "")
    assert PostingAnalysis.objects.count() == 1
    assert score(job_id, attempt=2).state == "succeeded"
    assert list_lanes(models) == list(BOTH)
    assert_rebuild_matches()


def test_a_lease_lost_in_flight_stores_nothing(models: ModelServer) -> None:
    job_id = enrich()
    models.script(analyze(), judge())

    def lose() -> bool:
        with writer():
            void_leases(job_id)
        return False

    report = score(job_id, is_cancelled=lose)

    assert (report.state, report.code) == ("skipped", "LEASE_LOST")
    assert list_lanes(models) == ["analysis"]
    assert not PostingAnalysis.objects.exists() and not list_events("EmployerAnalyzed")
