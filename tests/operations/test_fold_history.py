"""Live folding equals rebuilding, for any legal history and however small the row cache is."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discovery.events import (
    JobActiveStateChanged,
    JobDeleted,
    JobDiscovered,
    JobEnriched,
    JobHidden,
    JobRestored,
    JobSourceObserved,
    JobUnhidden,
    JobUpdated,
)
from materials.events import CoverLetterGenerated, PdfRendered, ResumeApproved
from operations import events as core
from operations.contracts import ENROLLED_STAGES, StageName, StageState
from operations.database import writer
from operations.eventlog import Event, append, append_marker
from operations.folding import list_tables, rebuild
from operations.folding.engine import RowCache
from operations.stage_engine.states import TRANSITIONS
from scoring.events import JobScored

JOBS = 3
NAMES: dict[str, Any] = {"work_mode": "remote", "salary": "", "location": "Køln", "url": "https://harbour.example/1"}


class History:
    """Turns drawn numbers into the next legal event of a few jobs, runs and steps."""

    def __init__(self) -> None:
        self.jobs = [uuid4() for _ in range(JOBS)]
        self.runs = [f"run-{uuid4()}" for _ in range(2)]
        self.states: dict[UUID, dict[StageName, StageState]] = {}
        self.version = 0

    def choose(self, kind: str, which: int, choice: int) -> Event | None:
        job_id, run_id = self.jobs[which % JOBS], self.runs[which % 2]
        if kind in ("run", "step"):
            return self.about_run(run_id, choice) if kind == "run" else self.about_step(run_id, choice)
        if job_id not in self.states:
            self.states[job_id] = dict.fromkeys(ENROLLED_STAGES, StageState.PENDING)
            return JobDiscovered(job_id=job_id, title="Backend Engineer", company="Acmé", source="s", **NAMES)
        return self.move_stage(job_id, choice) if kind == "stage" else self.about_job(job_id, choice)

    def move_stage(self, job_id: UUID, choice: int) -> Event | None:
        stages = self.states[job_id]
        stage = list(ENROLLED_STAGES)[choice % len(ENROLLED_STAGES)]
        targets = sorted(TRANSITIONS[stages[stage]] - {StageState.QUEUED})
        stages[stage] = target = targets[choice // 7 % len(targets)]
        ids: dict[str, Any] = {"job_id": job_id, "stage": stage}
        match target:
            case StageState.PENDING:
                return core.StageReset(**ids, from_state="failed", reason_code="operator", attempts=choice % 5)
            case StageState.RUNNING:
                return core.StageStarted(**ids, attempt=choice % 5 + 1, run_id=self.runs[0])
            case StageState.SUCCEEDED:
                return core.StageCompleted(**ids, attempt=1, duration_ms=choice)
            case StageState.FAILED:
                return core.StageFailed(**ids, attempt=1, error_code="NO_CONTENT", retryable=choice % 2 == 0)
            case StageState.EXHAUSTED:
                return core.StageExhausted(**ids, attempt=5, error_code="NO_CONTENT")
            case StageState.BLOCKED:
                return core.StageBlocked(**ids, reason_code="UPSTREAM_FAILED", blocked_by="enrich")
            case StageState.SKIPPED:
                return core.StageSkipped(**ids, reason_code="MIN_SCORE")
            case StageState.CANCELED:
                return core.StageCanceledEvent(**ids, reason_code="workflow_canceled")
            case StageState.STALE:
                return core.StageMarkedStale(**ids, reason_code="PROFILE_CHANGED")
            case _:
                return core.StageNeedsVerification(**ids, reason_code="SUBMIT_UNKNOWN")

    def about_job(self, job_id: UUID, choice: int) -> Event:
        self.version += 1
        makers: list[Any] = [
            lambda: JobUpdated(job_id=job_id, title=f"Engineer {choice}", company="Acmé", changed=("title",), **NAMES),
            lambda: JobSourceObserved(job_id=job_id, source_id="s", sightings=choice),
            lambda: JobActiveStateChanged(job_id=job_id, from_state="active", to_state="closed", evidence="x"),
            lambda: JobHidden(job_id=job_id),
            lambda: JobUnhidden(job_id=job_id),
            lambda: JobDeleted(job_id=job_id),
            lambda: JobRestored(job_id=job_id),
            lambda: JobEnriched(
                job_id=job_id, snapshot_version=self.version, tier="json_ld", confidence="low", quarantined=True
            ),
            lambda: JobScored(
                job_id=job_id,
                fit_score=choice % 10 + 1,
                version=self.version,
                band="strong",
                blocked=False,
                summary={"direct": choice},
                profile_version=1,
                scored_at=timezone.now(),
            ),
            lambda: ResumeApproved(
                job_id=job_id, version=self.version, engine="builtin", profile_version=1, score_version=1
            ),
            lambda: CoverLetterGenerated(job_id=job_id, version=self.version, engine="builtin", resume_version=1),
            lambda: PdfRendered(
                job_id=job_id, artifacts={"resume_pdf": str(job_id)}, resume_version=1, letter_version=1, pages=2
            ),
        ]
        made: Event = makers[choice % len(makers)]()
        return made

    def about_run(self, run_id: str, choice: int) -> Event:
        ids: dict[str, Any] = {"workflow_id": "discover-local", "run_id": run_id}
        typed = {**ids, "workflow_type": "DiscoverWorkflow"}
        summary = {"families": str(choice)}
        makers: list[Any] = [
            lambda: core.WorkflowStarted(**typed, phase="dispatched", summary=summary),
            lambda: core.WorkflowStarted(**typed, phase="running", summary={}, job_id=self.jobs[0]),
            lambda: core.WorkflowCompleted(**typed, result={"jobs": str(choice)}),
            lambda: core.WorkflowFailed(**typed, error_code="configuration", result={}),
            lambda: core.WorkflowCanceled(**typed),
            lambda: core.WorkflowTimedOut(**typed),
            lambda: core.WorkflowTerminated(**typed, reason_code="reconciled_not_found", provisional=True),
            lambda: core.WorkflowCancellationRequested(**ids, evidence="request_intent"),
        ]
        made: Event = makers[choice % len(makers)]()
        return made

    def about_step(self, run_id: str, choice: int) -> Event:
        ids: dict[str, Any] = {
            "workflow_id": "discover-local",
            "run_id": run_id,
            "kind": ("source_family", "pdf_render")[choice % 2],
            "item_key": ("", "ats", "x" * 120)[choice % 3],
            "attempt": choice // 6 % 3 + 1,
        }
        makers: list[Any] = [
            lambda: core.PipelineStepQueued(**ids),
            lambda: core.PipelineStepStarted(**ids),
            lambda: core.PipelineStepCompleted(**ids, counts={"postings": choice}),
            lambda: core.PipelineStepFailed(**ids, error_code="source_unavailable", counts={}),
        ]
        made: Event = makers[choice // 18 % 4]()
        return made


ACTIONS = st.tuples(
    st.sampled_from(["stage", "stage", "job", "run", "step", "marker"]), st.integers(0, 5), st.integers(0, 499)
)
HISTORIES = st.lists(st.lists(ACTIONS, min_size=1, max_size=5), min_size=1, max_size=14)


def read_tables() -> dict[str, list[tuple[Any, ...]]]:
    return {table.name: table.compiled.select_page(None, limit=100_000) for table in list_tables("operations")}


@pytest.mark.django_db
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(writes=HISTORIES)
def test_it_gives_the_same_rows_live_and_rebuilt(writes: list[list[tuple[str, int, int]]]) -> None:
    history = History()
    for actions in writes:
        with writer():
            for kind, which, choice in actions:
                if kind == "marker":
                    append_marker("StageQueued", job_id=history.jobs[which % JOBS], body={"stage": "score"})
                elif made := history.choose(kind, which, choice):
                    append(made)
    live = read_tables()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rebuild, "PAGE", 7)
        patch.setattr(rebuild, "SLICE", 4)
        patch.setattr(rebuild, "RowCache", lambda table, *, target, limit: RowCache(table, target=target, limit=2))
        report = rebuild.verify_projections()
        assert report.is_clean, report.tables

        with connection.cursor() as cursor:
            for table in list_tables("operations"):
                cursor.execute(f"DELETE FROM {table.name}")
        emptied = rebuild.rebuild_projections()
    assert {table.table: table.missing for table in emptied.tables} == {name: len(rows) for name, rows in live.items()}
    assert read_tables() == live
