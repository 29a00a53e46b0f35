"""Several events and several row moves at once: the same log as one by one, in a few statements."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from discovery.events import JobDiscovered
from operations.contracts import StageName, StageState
from operations.database import writer
from operations.errors import IllegalTransition
from operations.eventlog import append, append_all, read_after, read_head
from operations.events import SettingsChanged
from operations.models import JobListProjection, JobStageState
from operations.services.stages import reset_stages
from operations.stage_engine.rows import get_row, move_rows, plan_block, plan_reset, plan_skip
from tests.operations.cast import Cast


def note(actor: str) -> SettingsChanged:
    return SettingsChanged(keys=(), actor=actor)


def test_it_appends_in_order_and_gives_each_event_its_own_id(db: None) -> None:
    with writer():
        logged = append_all([note(f"{number}") for number in range(600)])

    assert [event.payload["actor"] for event in read_after(0)] == [f"{number}" for number in range(600)]
    assert read_after(0) == logged


def test_it_leaves_out_keys_used_before_and_keys_given_twice(
    db: None, assert_rebuild_matches: Callable[[], None]
) -> None:
    with writer():
        append(note("earlier"), key="a")
    with writer():
        logged = append_all(
            [note("again"), note("unkeyed"), note("new"), note("twin"), note("last")], keys=["a", None, "b", "b", "c"]
        )

    assert [event and event.payload["actor"] for event in logged] == [None, "unkeyed", "new", None, "last"]
    assert read_after(0)[1:] == [event for event in logged if event]
    assert_rebuild_matches()


def test_it_keeps_texts_as_they_are(db: None, assert_rebuild_matches: Callable[[], None]) -> None:
    titles = [
        'a "quoted" one',
        "a\\nd \\\\ back\\slashes",
        "100 %s of %%",
        "{braces}",
        "l'été 数据 🙂",
        "NULL",
        "two\nlines",
        "",
    ]
    jobs = {uuid4(): title for title in titles}
    with writer():
        logged = append_all(
            [
                JobDiscovered(
                    job_id=job_id, title=title, company="", location="", work_mode="", salary="", source="s", url=""
                )
                for job_id, title in jobs.items()
            ]
        )

    assert read_after(0) == logged
    assert dict(JobListProjection.objects.values_list("job_id", "title")) == jobs
    assert_rebuild_matches()


def test_it_appends_nothing_for_nothing(db: None) -> None:
    with writer():
        assert append_all([]) == []


def test_it_refuses_a_batch_outside_of_the_writer(db: None) -> None:
    with pytest.raises(RuntimeError):
        append_all([note("late")])


def test_it_moves_rows_with_different_endings_at_once(cast: Cast, assert_rebuild_matches: Callable[[], None]) -> None:
    with writer():
        rows = {name: get_row(cast.backend, name) for name in (StageName.TAILOR, StageName.COVER, StageName.APPLY)}
        move_rows(
            [
                plan_skip(rows[StageName.TAILOR], reason_code="MIN_SCORE"),
                plan_block(rows[StageName.COVER], reason_code="UPSTREAM_FAILED", blocked_by="score"),
                plan_skip(rows[StageName.APPLY], reason_code="MIN_SCORE"),
            ]
        )

    stored = dict(JobStageState.objects.filter(job_id=cast.backend).values_list("stage", "state"))
    assert (stored["tailor"], stored["cover"], stored["apply"]) == ("skipped", "blocked", "skipped")
    assert [(event.type, event.payload["stage"]) for event in read_after(0)[-3:]] == [
        ("StageSkipped", "tailor"),
        ("StageBlocked", "cover"),
        ("StageSkipped", "apply"),
    ]
    assert_rebuild_matches()


def test_it_moves_no_row_of_a_batch_that_holds_an_unknown_move(cast: Cast) -> None:
    before = read_head()
    with pytest.raises(IllegalTransition), writer():
        move_rows(
            [
                plan_skip(get_row(cast.backend, StageName.TAILOR), reason_code="MIN_SCORE"),
                plan_reset(get_row(cast.backend, StageName.COVER), reason_code="operator"),
            ]
        )

    assert get_row(cast.backend, StageName.TAILOR).state == StageState.PENDING
    assert read_head() == before


def test_it_raises_where_a_row_is_gone(cast: Cast) -> None:
    with pytest.raises(DatabaseError), writer():
        row = get_row(cast.backend, StageName.TAILOR)
        JobStageState.objects.filter(pk=row.pk).delete()
        move_rows([plan_skip(row, reason_code="MIN_SCORE")])


def test_it_resets_many_jobs_in_as_many_statements_as_one(
    cast: Cast, assert_rebuild_matches: Callable[[], None]
) -> None:
    jobs = list(JobStageState.objects.filter(stage=StageName.TAILOR).values_list("job_id", flat=True))
    with writer():
        move_rows([plan_skip(get_row(job_id, StageName.TAILOR), reason_code="MIN_SCORE") for job_id in jobs])

    with CaptureQueriesContext(connection) as queries:
        report = reset_stages(StageName.TAILOR, [*jobs, jobs[0]])

    assert set(report.reset) == set(jobs) and len(report.reset) == len(jobs) > 1
    assert sum("INSERT INTO job_events" in query["sql"] for query in queries) == 1
    assert not JobStageState.objects.filter(stage=StageName.TAILOR).exclude(state=StageState.PENDING).exists()
    assert_rebuild_matches()
