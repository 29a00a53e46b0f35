"""The one lifecycle of every per-job stage: eligible, claim, run, publish behind the fence, settle."""

from operations.stage_engine.declaration import (
    Claim,
    Hold,
    Owner,
    Refusal,
    Settlement,
    Stage,
    find_stage,
    get_stage,
    job_gate,
    list_stages,
    stage,
)
from operations.stage_engine.lifecycle import (
    check_lease,
    claim_stage,
    publish_stage,
    release_claim,
    settle_canceled,
    settle_failure,
)
from operations.stage_engine.work import StageContext, WorkResult, work_job

__all__ = [
    "Claim", "Hold", "Owner", "Refusal", "Settlement", "Stage", "StageContext", "WorkResult", "check_lease",
    "claim_stage", "find_stage", "get_stage", "job_gate", "list_stages", "publish_stage", "release_claim",
    "settle_canceled", "settle_failure", "stage", "work_job",
]  # fmt: skip
