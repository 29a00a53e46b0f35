"""What a cancellation takes along: exactly the run's own, never a successor's, and no result that was accepted."""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import pytest
from temporalio.testing import ActivityEnvironment

from operations.activities import cancel_selected_rows as cancel_selected_activity
from operations.activities import record_workflow_outcome
from operations.contracts import CanceledSelection, RecordedEnd, RunStatus, StageName, StageState, WorkflowOutcome
from operations.database import writer
from operations.errors import LeaseLost
from operations.models import JobEventRow, OperationalAttemptMetric
from operations.services import retrying, starts
from operations.services.retrying import retry_stages
from operations.services.runs import record_cancel_intent, record_outcome
from operations.services.stages import reset_stages
from operations.services.starts import Started, start_pipeline
from operations.stage_engine import publish_stage
from operations.stage_engine.counters import read_counters
from operations.stage_engine.rows import renew_pending, reset_row
from operations.stage_engine.settling import Settled, cancel_owned_cohort, cancel_selected_rows, settle_owned_rows
from operations.wording.events import describe_event
from tests.operations.cast import FIRST_RUN, SECOND_RUN, Cast, ScriptedStage, claim, get_row, list_types, put_row

ENRICH, SCORE, COVER = StageName.ENRICH, StageName.SCORE, StageName.COVER
Stages = dict[StageName, ScriptedStage]
Check = Callable[[], None]


def read_states(cast: Cast, stage: StageName) -> list[str]:
    return [get_row(job_id, stage).state for job_id in cast]


def release(job_id: object, stage: StageName) -> None:
    """As a run puts back what it may not start again now."""
    with writer():
        reset_row(get_row(job_id, stage), reason_code="owner_recovered")  # type: ignore[arg-type]


def end_discovery(status: RunStatus, *, workflow_type: str = "DiscoverWorkflow") -> None:
    record_outcome(WorkflowOutcome(FIRST_RUN.workflow_id, FIRST_RUN.run_id, workflow_type, status, "internal"))


def prepare(cast: Cast, stages: Stages) -> None:
    """Four enrichments: one running, one put back by the run, one reserved, one put back and reclaimed by another."""
    claim(cast.backend, ENRICH)
    claim(cast.data, ENRICH)
    release(cast.data, ENRICH)
    ids = {"owner_workflow_id": FIRST_RUN.workflow_id, "owner_run_id": FIRST_RUN.run_id}
    put_row(cast.sales, ENRICH, StageState.QUEUED, **ids)
    claim(cast.office, ENRICH)
    release(cast.office, ENRICH)
    claim(cast.office, ENRICH, SECOND_RUN)


def test_a_canceled_discovery_takes_its_exact_cohort_along(
    cast: Cast, stages: Stages, assert_rebuild_matches: Check
) -> None:
    prepare(cast, stages)
    end_discovery(RunStatus.CANCELED)

    assert read_states(cast, ENRICH) == ["canceled", "canceled", "canceled", "running"]
    assert get_row(cast.data, SCORE).reason_code == "UPSTREAM_CANCELED"
    publish_stage(claim(cast.office, ENRICH, replace(SECOND_RUN, attempt=2)), "result")
    before = JobEventRow.objects.count()
    end_discovery(RunStatus.CANCELED)
    assert JobEventRow.objects.count() == before
    assert_rebuild_matches()


def test_any_other_canceled_run_leaves_what_it_had_put_back(cast: Cast, stages: Stages) -> None:
    prepare(cast, stages)
    end_discovery(RunStatus.CANCELED, workflow_type="JobPreparationWorkflow")
    assert read_states(cast, ENRICH) == ["canceled", "pending", "canceled", "running"]
    assert get_row(cast.data, ENRICH).owner_run_id == FIRST_RUN.run_id


def test_a_run_that_ended_otherwise_gives_back_what_it_had_reserved(cast: Cast, stages: Stages) -> None:
    prepare(cast, stages)
    with writer():
        assert settle_owned_rows(FIRST_RUN.run_id) == Settled(failed=1, released=1)
    row = get_row(cast.sales, ENRICH)
    assert (row.state, row.attempts) == (StageState.PENDING, 0)


def test_it_leaves_alone_what_a_person_has_put_back(cast: Cast, stages: Stages) -> None:
    claim(cast.backend, ENRICH)
    end_discovery(RunStatus.FAILED)
    reset_stages(ENRICH, [cast.backend])
    with writer():
        assert cancel_owned_cohort(FIRST_RUN.workflow_id, FIRST_RUN.run_id) == Settled()
    assert get_row(cast.backend, ENRICH).state == StageState.PENDING


def test_it_asks_for_the_workflow_as_well_as_the_run(cast: Cast, stages: Stages) -> None:
    claim(cast.backend, ENRICH)
    with writer():
        assert cancel_owned_cohort("discover-other", FIRST_RUN.run_id) == Settled()
    assert get_row(cast.backend, ENRICH).state == StageState.RUNNING


def test_it_cancels_a_jobs_stages_from_the_last_to_the_first_and_keeps_the_counters(
    cast: Cast, stages: Stages, assert_rebuild_matches: Check
) -> None:
    """The first would block the second, which is the run's too."""
    publish_stage(claim(cast.backend, ENRICH), "result")
    claim(cast.backend, SCORE)
    release(cast.backend, SCORE)
    reset_stages(ENRICH, [cast.backend])
    claim(cast.backend, ENRICH)
    with writer():
        assert cancel_owned_cohort(FIRST_RUN.workflow_id, FIRST_RUN.run_id) == Settled(canceled=2)
    assert (get_row(cast.backend, ENRICH).state, get_row(cast.backend, SCORE).state) == ("canceled", "canceled")
    counters = read_counters()
    assert (counters["enrich"], counters["score"]) == ({"canceled": 1, "pending": 3}, {"canceled": 1, "pending": 3})
    assert_rebuild_matches()


# --- a selected batch --------------------------------------------------------------------------


def claim_letters(cast: Cast) -> None:
    """One under the run, one under a successor, one that nobody has come to."""
    for job_id in cast:
        put_row(job_id, StageName.TAILOR, StageState.SUCCEEDED)
    claim(cast.backend, COVER)
    claim(cast.data, COVER, SECOND_RUN)


def test_a_canceled_selection_takes_what_it_had_not_come_to_and_nothing_of_its_successor(
    cast: Cast, stages: Stages, assert_rebuild_matches: Check
) -> None:
    for name in (ENRICH, SCORE, StageName.TAILOR):
        for job_id in cast:
            publish_stage(claim(job_id, name), "result")
    late = claim(cast.backend, COVER)
    claim(cast.data, COVER, SECOND_RUN)

    given = CanceledSelection(
        FIRST_RUN.workflow_id, FIRST_RUN.run_id, "cover", tuple(map(str, (cast.backend, cast.data, cast.sales)))
    )
    ActivityEnvironment().run(cancel_selected_activity, given)

    assert read_states(cast, COVER) == ["canceled", "running", "canceled", "pending"]
    with pytest.raises(LeaseLost):
        publish_stage(late, "a letter")
    assert "CoverLetterGenerated" not in list_types()
    assert cancel_selected_rows(FIRST_RUN, COVER, list(cast)[:3]) == Settled(), "repeating it changes nothing"
    assert_rebuild_matches()


def test_it_counts_what_became_of_each(cast: Cast, stages: Stages) -> None:
    claim_letters(cast)
    assert cancel_selected_rows(FIRST_RUN, COVER, list(cast)[:3]) == Settled(canceled=2)


def test_a_letter_approved_just_before_the_cancel_is_kept_and_says_why(cast: Cast, stages: Stages) -> None:
    claim_letters(cast)
    with writer():
        stages[COVER].save_result(cast.backend)
    assert cancel_selected_rows(FIRST_RUN, COVER, [cast.backend]) == Settled(restored=1)

    row = get_row(cast.backend, COVER)
    assert (row.state, row.reason_code) == (StageState.SUCCEEDED, "RESULT_KEPT")
    event = JobEventRow.objects.get(event_type="StageCompleted", job_id=cast.backend)
    assert (event.version, event.payload["reused"]) == (2, True)
    assert "accepted before its run was canceled" in describe_event("StageCompleted", event.payload)


def test_it_takes_over_from_an_ended_run_but_not_from_one_that_may_come_back(cast: Cast, stages: Stages) -> None:
    claim_letters(cast)
    for job_id in (cast.sales, cast.office):
        claim(job_id, COVER, replace(SECOND_RUN, run_id=f"run-{job_id}"))
        release(job_id, COVER)
    record_outcome(WorkflowOutcome("run-x", f"run-{cast.sales}", "JobPipelineWorkflow", RunStatus.FAILED))
    assert cancel_selected_rows(FIRST_RUN, COVER, [cast.sales, cast.office]) == Settled(canceled=1)
    assert read_states(cast, COVER)[2:] == ["canceled", "pending"]


def test_what_was_put_back_or_promised_after_the_run_ended_is_not_its_any_more(cast: Cast, stages: Stages) -> None:
    """A run canceled before its body began records its end first and comes for its selection after."""
    claim_letters(cast)
    end_discovery(RunStatus.CANCELED, workflow_type="JobPipelineWorkflow")
    assert reset_stages(COVER, [cast.backend]).reset == (cast.backend,)
    with writer():
        renew_pending(COVER, [cast.sales])

    assert cancel_selected_rows(FIRST_RUN, COVER, list(cast)) == Settled(canceled=1)
    assert read_states(cast, COVER) == ["pending", "running", "pending", "canceled"]


def test_a_run_that_had_ended_before_it_was_asked_to_stop_takes_nothing_along(cast: Cast, stages: Stages) -> None:
    outcome = WorkflowOutcome(FIRST_RUN.workflow_id, FIRST_RUN.run_id, "JobPipelineWorkflow", RunStatus.FAILED, "boom")
    later = replace(outcome, status=RunStatus.CANCELED, error_code="")
    for end in (outcome, later):
        assert ActivityEnvironment().run(record_workflow_outcome, end) == RecordedEnd("failed", "boom")
    given = CanceledSelection(FIRST_RUN.workflow_id, FIRST_RUN.run_id, "enrich", (str(cast.backend),))
    ActivityEnvironment().run(cancel_selected_activity, given)
    assert get_row(cast.backend, ENRICH).state == StageState.PENDING


def start_anew(job_id: UUID) -> None:
    start_pipeline("enrich", profile_version=0, job_ids=[job_id])


def retry(job_id: UUID) -> None:
    retry_stages(ENRICH, [job_id], profile_version=0)


@pytest.mark.parametrize("promise", [start_anew, retry])
def test_a_late_cancel_spares_what_was_promised_after_it_was_asked_for(
    promise: Callable[[UUID], None], cast: Cast, stages: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that wait already are put into a new run without being put back."""
    started = Started("run-new", "new", existing=False)
    for module in (starts, retrying):
        monkeypatch.setattr(module, "check_worker_ready", lambda: None)
    monkeypatch.setattr(starts, "start_workflows", lambda requests: [started])
    monkeypatch.setattr(retrying, "make_start", lambda workflow_id: started)
    record_cancel_intent(FIRST_RUN.workflow_id, FIRST_RUN.run_id)
    promise(cast.backend)
    assert cancel_selected_rows(FIRST_RUN, ENRICH, [cast.backend, cast.data]) == Settled(canceled=1)
    assert read_states(cast, ENRICH)[:2] == ["pending", "canceled"]


# --- an app that raises ------------------------------------------------------------------------


def test_one_app_that_raises_keeps_no_other_row_and_no_run_from_ending(
    cast: Cast, stages: Stages, monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Check
) -> None:
    claim(cast.backend, ENRICH)
    claim(cast.data, ENRICH)
    find = stages[ENRICH].find_result_version

    def raise_for_one(job_id: object) -> int:
        if job_id == cast.backend:
            raise LookupError
        return find(job_id)  # type: ignore[arg-type]

    monkeypatch.setattr(stages[ENRICH], "find_result_version", raise_for_one)
    end_discovery(RunStatus.FAILED)

    assert read_states(cast, ENRICH)[:2] == ["running", "failed"]
    assert list_types()[-1] == "WorkflowFailed"
    assert_rebuild_matches()


def test_a_record_of_an_ending_that_raises_leaves_the_ending(
    cast: Cast, stages: Stages, monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Check
) -> None:
    claim(cast.backend, ENRICH)

    def raise_always(*_: object, **__: object) -> None:
        raise LookupError

    for hook in ("record_failure", "record_cancellation", "describe_job"):
        monkeypatch.setattr(stages[ENRICH], hook, raise_always)
    end_discovery(RunStatus.FAILED)
    assert get_row(cast.backend, ENRICH).error_code == "OWNER_ENDED"
    assert OperationalAttemptMetric.objects.get().job_url == ""
    assert_rebuild_matches()
