"""Whether every job is settled: done to its documents, or in a state whose reason explains it."""

import hashlib
from collections import defaultdict
from dataclasses import dataclass

from operations.contracts import STAGE_AFTER, StageName
from tests.worker.workspace import Workspace

#: Claims of one stage of one job, deaths of workers included; spec: 5 each.
MOST_CLAIMS = 5
#: Activity attempts of a source family.
MOST_SOURCE_ATTEMPTS = 3
WORKED_ON = (StageName.ENRICH, StageName.SCORE, StageName.TAILOR, StageName.COVER, StageName.PDF)
DOCUMENTS = ["letter_pdf", "resume_pdf"]


@dataclass(frozen=True, slots=True)
class Row:
    state: str
    attempts: int = 0
    reason: str = ""
    blocked_by: str = ""


Rows = dict[str, Row]


def read_rows(workspace: Workspace) -> dict[str, Rows]:
    """job id as stored -> stage -> row; a job without rows is there too."""
    jobs: dict[str, Rows] = {str(job_id): {} for (job_id,) in workspace.query("SELECT id FROM jobs")}
    for job_id, stage, state, attempts, error, reason, blocked_by in workspace.query(
        "SELECT job_id, stage, state, attempts, error_code, reason_code, blocked_by FROM job_stage_states"
    ):
        jobs[str(job_id)][stage] = Row(state, attempts, error or reason, blocked_by)
    return jobs


def is_settled(rows: Rows) -> bool:
    return all(explain(rows, stage) for stage in (*WORKED_ON, StageName.APPLY))


def explain(rows: Rows, stage: StageName) -> str:
    """Why nothing more happens to this stage; "" where something should.

    Built-in work fails by nothing but lost workers: what ends otherwise than done has used every claim it may have, or
    waits for what has. Nobody applies here.
    """
    row = rows.get(stage)
    if row is not None and row.state == "succeeded":
        return "done"
    if row is not None and row.state == "exhausted" and row.attempts >= MOST_CLAIMS:
        return "every attempt was used"
    before = STAGE_AFTER[stage]
    upstream = explain(rows, before) if before is not None else ""
    if upstream not in ("", "done"):
        return upstream if row is None or row.state == "blocked" else ""
    return "nobody applies" if stage is StageName.APPLY and row is not None and row.state == "pending" else ""


def find_unsettled(workspace: Workspace) -> list[str]:
    """One line for each stage, state and reason in which something is left."""
    found: dict[tuple[str, str, str], int] = defaultdict(int)
    for rows in read_rows(workspace).values():
        for stage in (*WORKED_ON, StageName.APPLY):
            if not explain(rows, stage):
                row = rows.get(stage, Row("absent"))
                found[stage, row.state, row.reason] += 1
    lost = workspace.count("jobs") - workspace.count("job_list_projections")
    return [
        *(
            f"{count} rows of {stage} are {state} ({reason or 'no reason'})"
            for (stage, state, reason), count in found.items()
        ),
        *([f"{lost} jobs are not listed"] if lost else []),
    ]


def list_canceled(workspace: Workspace) -> dict[str, list[str]]:
    """stage -> jobs that a canceled run left canceled: only a person's reset brings them back."""
    found: dict[str, list[str]] = defaultdict(list)
    for job_id, rows in read_rows(workspace).items():
        for stage, row in rows.items():
            if row.state == "canceled":
                found[stage].append(job_id)
    return found


def find_missing_documents(workspace: Workspace) -> list[str]:
    """Each covered job has one resume and one letter, and each file is what its row says."""
    kinds: dict[str, list[str]] = defaultdict(list)
    faults = []
    for job_id, kind, path, sha256 in workspace.query("SELECT job_id, kind, relative_path, sha256 FROM artifacts"):
        kinds[str(job_id)].append(kind)
        file = workspace.home / "artifacts" / path
        if not file.exists():
            faults.append(f"the {kind} of {job_id} is not on disk")
        elif hashlib.sha256(file.read_bytes()).hexdigest() != sha256:
            faults.append(f"the {kind} of {job_id} is not what was rendered")
    covered = [job for job, rows in read_rows(workspace).items() if rows.get("pdf", Row("")).state == "succeeded"]
    without = [job for job in covered if sorted(kinds[job]) != DOCUMENTS]
    return [*faults, *([f"{len(without)} covered jobs have {sorted(kinds[without[0]])}"] if without else [])]


def find_excess_attempts(workspace: Workspace) -> list[str]:
    counters = (
        ("rows", "job_stage_states", "attempts > %s", MOST_CLAIMS),
        ("claims", "operational_attempt_metrics", "attempt_kind = 'stage' AND attempt > %s", MOST_CLAIMS),
        (
            "source readings",
            "operational_attempt_metrics",
            "attempt_kind = 'source' AND attempt > %s",
            MOST_SOURCE_ATTEMPTS,
        ),
        # A printed document's step counts its stage's claims; the others are Temporal's attempts of one activity.
        ("steps", "pipeline_step_projections", "kind <> 'pdf_render' AND attempt > %s", MOST_SOURCE_ATTEMPTS),
        ("steps", "pipeline_step_projections", "kind = 'pdf_render' AND attempt > %s", MOST_CLAIMS),
        (
            "pending activities",
            "workflow_pending_activities",
            "maximum_attempts > %s AND attempt > maximum_attempts",
            0,
        ),
    )
    return [
        f"{count} {name} are over their limit of attempts"
        for name, table, where, limit in counters
        if (count := workspace.count(table, where, limit))
    ]
