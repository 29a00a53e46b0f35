"""What must hold of a job before any stage may claim it."""

from uuid import UUID

from discovery import queries
from operations.contracts import StageState
from operations.stage_engine import Refusal, job_gate


@job_gate
def refuse_deleted_job(job_id: UUID) -> Refusal | None:
    return Refusal(StageState.CANCELED, "JOB_DELETED") if queries.is_deleted(job_id) else None


def refuse_posting(job_id: UUID, *, needs_trust: bool) -> Refusal | None:
    """For the stages after enrichment: a closed posting blocks them, a distrusted one blocks the documents."""
    code = queries.find_posting_refusal(job_id, needs_trust=needs_trust)
    if not code:
        return None
    return Refusal(StageState.BLOCKED, code, settle_as=StageState.BLOCKED, blocked_by="enrich")
