"""What the hot paths cost in statements, and that the hot reads use their indexes."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from discovery import queries as discovery_queries
from discovery.services.postings import record_postings
from operations import queries
from operations.attempts import list_attempts
from operations.contracts import ExecutionRef, StageName, StageState
from operations.database import writer
from operations.ended_runs import find_recorded_end, find_run_stop, find_stop_time, list_ended_runs
from operations.eventlog import append
from operations.events import StageStarted
from operations.llm.authority import check_budget, check_preflight
from operations.llm.ledger import compare_day
from operations.models import JobEventRow, WorkflowRunProjection
from operations.queries import spend
from operations.services import frozen_starts
from operations.settings_store import change_settings
from operations.stage_engine import Claim, Owner, claim_stage, publish_stage, settle_failure
from operations.stage_engine.settling import cancel_owned_cohort, settle_earlier_attempts, settle_owned_rows
from tests.operations.cast import FIRST_RUN, PROFILE_VERSION, Cast, ScriptedStage, build_posting, claim

ENRICH = StageName.ENRICH
Stages = dict[StageName, ScriptedStage]


def allow(count: DjangoAssertNumQueries, most: int, work: Callable[[], object]) -> None:
    """At most so many statements; PostgreSQL's writer also takes its lock and notifies listeners."""
    with count(most + (2 if connection.vendor == "postgresql" else 0)):
        work()


def append_one(job_id: Any) -> None:
    with writer():
        append(StageStarted(job_id=job_id, stage="score", attempt=1))


def append_many(cast: Cast) -> None:
    with writer():
        for attempt in range(25):
            for job_id in cast:
                append(StageStarted(job_id=job_id, stage="score", attempt=attempt))


def test_it_appends_and_folds_one_event_in_few_statements(
    cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    """Transaction 2, insert, states, fold savepoint 2, two tables' load and write, watermark."""
    allow(django_assert_max_num_queries, 11, lambda: append_one(cast.backend))


def test_it_folds_a_batch_with_the_statements_of_one_event(
    cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    allow(django_assert_max_num_queries, 10 + 100, lambda: append_many(cast))


def test_it_claims_in_few_statements(
    cast: Cast, stages: Stages, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    """Beside the event's 11: row, run's end, gate, the stage's newest result, the row's update and its counter."""
    allow(django_assert_max_num_queries, 17, lambda: claim(cast.backend, ENRICH))


def test_it_publishes_in_few_statements(
    cast: Cast, stages: Stages, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    """Row, run's stop, result, row's update, counter, metric and the dependents' rows; two events instead of one."""
    given = claim(cast.backend, ENRICH)
    allow(django_assert_max_num_queries, 19, lambda: publish_stage(given, "result"))


def test_it_blocks_four_dependents_with_the_statements_of_one(
    cast: Cast, stages: Stages, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    """The savepoint's 2 are for what the app records of the failure."""
    given = claim(cast.backend, ENRICH)

    def fail() -> None:
        settle_failure(given, code="NO_CONTENT", message="", retryable=False)

    allow(django_assert_max_num_queries, 20, fail)


def test_it_refuses_a_finished_row_with_one_read(
    cast: Cast, stages: Stages, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    publish_stage(claim(cast.backend, ENRICH), "result")

    def ask_again() -> None:
        given = claim_stage(cast.backend, ENRICH, owner=FIRST_RUN, profile_version=PROFILE_VERSION)
        assert not isinstance(given, Claim)

    allow(django_assert_max_num_queries, 3, ask_again)


# --- plans -------------------------------------------------------------------------------------

JOB = uuid4()
ASKED = queries.OpenRun("run-a", "w", "DiscoverWorkflow", False, 0, timezone.now())
REF = ExecutionRef("local", "discover-local", "run-a")


def test_it_checks_the_budget_with_two_reads(db: None, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    change_settings({"provider": {"score": "openai"}, "lane_token_limits": {"score": 5}}, actor="tester")
    allow(django_assert_max_num_queries, 2, lambda: check_budget("score", now=timezone.now()))
    allow(
        django_assert_max_num_queries,
        2,
        lambda: check_preflight(["analysis"], now=timezone.now(), begins_with=["analysis"]),
    )


def read_events_of_a_job() -> list[Any]:
    return list(JobEventRow.objects.filter(job_id=JOB).order_by("-id")[:50])


def read_events_of_a_run() -> list[Any]:
    return list(JobEventRow.objects.filter(run_id="run-a").exclude(run_id="").order_by("-id")[:50])


def read_bad_runs() -> list[Any]:
    since = timezone.now() - timedelta(days=7)
    WorkflowRunProjection.objects.create(
        run_id="r",
        workflow_id="run-a",
        workflow_type="JobPipelineWorkflow",
        status="failed",
        first_seen_at=timezone.now(),
    )
    return queries.list_bad_runs(since=since, limit=10)


def settle_in_turn(run_id: str) -> None:
    with writer():
        settle_owned_rows(run_id)


def cancel_in_turn(run_id: str) -> None:
    with writer():
        cancel_owned_cohort("discover-local", run_id)


def accept_postings() -> None:
    record_postings("greenhouse:harbour", [build_posting("1", "Engineer", "Harbour")], execution_ref=None)


HOT_READS: dict[str, Callable[[], object]] = {
    "top jobs": lambda: queries.list_top_jobs(10),
    "candidates to enrich": lambda: queries.list_stage_candidates(ENRICH),
    "candidates to score": lambda: queries.list_stage_candidates(StageName.SCORE, owner_run_id="run-a", limit=25),
    "candidates of an execution": lambda: queries.list_stage_candidates(StageName.SCORE, execution_ref=REF),
    "candidates for a pdf": lambda: queries.list_stage_candidates(StageName.PDF),
    "last content event": lambda: queries.find_content_event_id(JOB),
    "fresh worker": queries.find_fresh_worker,
    "a run's end or cancellation": lambda: find_run_stop("run-a", own_ends=["discovery:run-a:ended"]),
    "owners that nobody watches": queries.list_unwatched_owners,
    "what a run holds at its end": lambda: settle_in_turn("run-a"),
    "what a canceled discovery owns": lambda: cancel_in_turn("run-a"),
    "what an earlier attempt left": lambda: settle_earlier_attempts(StageName.SCORE, Owner("prep-a", "run-a", 2), None),
    "how a run's jobs have ended": lambda: queries.list_settled_by_run(StageName.SCORE, "run-a"),
    "accepting a board's postings": accept_postings,
    "since when a run is to stop": lambda: find_stop_time("run-a"),
    "the recorded end of a run": lambda: find_recorded_end("run-a"),
    "which runs have ended": lambda: list_ended_runs(["run-a", "run-b"]),
    "discoveries in progress": lambda: list(discovery_queries.iter_runs_in_progress()),
    "one run": lambda: queries.find_run("run-a"),
    "runs that ended badly": read_bad_runs,
    "first event of a day": lambda: queries.find_first_event_since(timezone.now() - timedelta(days=1)),
    "events of a day": lambda: queries.count_events_since(1, ("JobScored", "StageFailed")),
    "open runs of a job": lambda: queries.list_open_runs_of_job(JOB),
    "open runs": lambda: queries.count_open_runs(["prep-a", "prep-b"]),
    "pending of runs": lambda: queries.list_pending(["run-a", "run-b"]),
    "runs that retry": queries.list_retrying_runs,
    "chosen jobs that are done": lambda: queries.have_succeeded(StageName.SCORE, [JOB]),
    "stage of a job": lambda: queries.find_stage_state(JOB, StageName.SCORE),
    "lost stages of a page": lambda: queries.map_lost_stages([JOB, uuid4()]),
    "lost stages": queries.count_lost_stages,
    "lost stages of an execution": lambda: queries.count_lost_stages(REF),
    "members of an execution": lambda: queries.list_memberships(REF),
    "first event of a type": lambda: queries.find_first_event_time("JobScored"),
    "attempts of a job": lambda: list_attempts(JOB),
    "events of a job": read_events_of_a_job,
    "events of a run": read_events_of_a_run,
    "runs told of in a slice of the log": lambda: queries.list_logged_runs(
        ("WorkflowStarted", "WorkflowFailed"), first_id=1, below=5001
    ),
    "rows of runs": lambda: queries.count_runs(["run-a", "run-b"]),
    "open runs in turn": lambda: queries.list_unsettled_runs("in_progress", after=ASKED, limit=500),
    "assumed ends in turn": lambda: queries.list_unsettled_runs(queries.ASSUMED, after=ASKED, limit=100),
    "the first open runs": lambda: queries.list_unsettled_runs("in_progress", limit=500),
    "the first assumed ends": lambda: queries.list_unsettled_runs(queries.ASSUMED, limit=100),
    "starts to repeat": frozen_starts.repeat_starts,
    "spend of a day": lambda: spend.list_lane_rows(timezone.now().date()),
    "spend by day": lambda: spend.list_days(timezone.now().date(), timezone.now().date(), now=timezone.now()),
    "spend as a sheet": lambda: list(spend.list_ledger(timezone.now().date(), timezone.now().date())),
    "models of a day": lambda: spend.read_model_shares(timezone.now()),
    "calls of unknown use": lambda: spend.list_unknown_attempts(since=timezone.now(), now=timezone.now(), limit=20),
    "how many calls are of unknown use": lambda: spend.count_unknown(since=timezone.now(), now=timezone.now()),
    "cost of a run": lambda: spend.find_run_cost("run-a"),
    "costs of a page of runs": lambda: spend.map_run_costs(["run-a", "run-b"]),
    "costs of recent jobs": lambda: spend.list_job_costs(timezone.now()),
    "cost of a job": lambda: spend.map_stage_costs(JOB),
    "check before an attempt": lambda: check_budget("score", now=timezone.now()),
    "ledger against its attempts": lambda: compare_day(timezone.now()),
    "posting": lambda: discovery_queries.find_posting(JOB),
    "posting refusal": lambda: discovery_queries.find_posting_refusal(JOB, needs_trust=True),
}


#: An index that is walked costs as much as its table, but for these: the first few of an order, and what holds little.
WALKED_ON_PURPOSE = (
    "SCAN subquery",
    "SCAN projection_watermarks",
    "SCAN job_list_projections USING INDEX default_job_list",
    "SCAN frozen_starts USING INDEX frozen_starts_by_turn",
    "SCAN workflow_run_projections USING INDEX assumed_ends",
)


@pytest.mark.skipif("postgres" in str(connection.vendor), reason="the plans read here are SQLite's")
@pytest.mark.parametrize("name", HOT_READS)
def test_it_reads_by_an_index_and_never_walks_a_whole_table(name: str, db: None) -> None:
    statements: list[tuple[str, Any]] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        statements.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        HOT_READS[name]()
    reads = [(sql, params) for sql, params in statements if sql.startswith("SELECT")]
    assert reads
    for sql, params in reads:
        assert list_table_scans(sql, params) == [], sql


def list_table_scans(sql: str, params: Any) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
        lines = [str(row[3]) for row in cursor.fetchall()]
    return [line for line in lines if re.match(r"SCAN \w+", line) and line not in WALKED_ON_PURPOSE]


@pytest.mark.skipif("postgres" in str(connection.vendor), reason="the plans read here are SQLite's")
def test_it_counts_unknown_calls_without_looking_at_the_counted_ones(db: None) -> None:
    with CaptureQueriesContext(connection) as captured:
        spend.count_unknown(since=timezone.now(), now=timezone.now())
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {captured[0]['sql']}")
        plan = " ".join(str(row[3]) for row in cursor.fetchall())
    assert "USING COVERING INDEX attempts_not_counted (opened_at>?)" in plan


@pytest.mark.skipif("postgres" in str(connection.vendor), reason="the plans read here are SQLite's")
def test_it_would_notice_a_read_without_an_index(db: None) -> None:
    sql, params = WorkflowRunProjection.objects.filter(error_code="boom").query.sql_with_params()
    assert list_table_scans(sql, params)


def test_it_lists_only_what_may_be_claimed(cast: Cast, stages: Stages) -> None:
    from tests.operations.cast import put_row

    put_row(cast.backend, ENRICH, StageState.SUCCEEDED)
    put_row(cast.data, ENRICH, StageState.FAILED, retryable=False)
    put_row(cast.sales, ENRICH, StageState.RUNNING, owner_run_id="run-first")
    assert queries.list_stage_candidates(ENRICH) == [cast.office]
    assert queries.list_stage_candidates(ENRICH, owner_run_id="run-first") == [cast.sales, cast.office]
    assert queries.list_stage_candidates(ENRICH, owner_run_id="run-second") == [cast.office]
    assert queries.list_stage_candidates(StageName.SCORE) == [cast.backend]
    assert queries.list_stage_candidates(StageName.SCORE, job_ids=[cast.data, cast.data]) == [cast.data]
    assert queries.list_stage_candidates(ENRICH, owner_run_id="run-first", limit=1) == [cast.sales]
