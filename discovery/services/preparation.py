"""Fan-out: which members of an execution are prepared, under which deterministic workflow ID."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings

from discovery import queries
from discovery.services.fence import check_discovery
from operations.contracts import FANOUT_BATCH, PREPARATION_ORDER, ExecutionRef, PreparationInput, StageName, StageState
from operations.queries import find_content_event_id, find_stage_state
from operations.services.executions import plan_job, plan_nothing
from operations.services.starts import StartRequest, start_workflows

TARGET_POLICY_VERSION = 1
KIND = "prepare"


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps to run for one job, or why none are."""

    job_id: UUID
    steps: tuple[StageName, ...]
    reason: str = ""


def compute_idempotency_key(job_id: UUID, *, content_event_id: int) -> str:
    """One preparation per job and content: 32 hex of tenant, job, kind, policy version and last content event."""
    parts = (settings.TENANT_ID, str(job_id), KIND, str(TARGET_POLICY_VERSION), str(content_event_id))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def choose_plan(job_id: UUID, *, profile_version: int) -> Plan:
    if not profile_version:
        return Plan(job_id, (), "NO_PROFILE")
    if queries.is_deleted(job_id):
        return Plan(job_id, (), "JOB_DELETED")
    enrich = find_stage_state(job_id, StageName.ENRICH)
    if enrich != StageState.SUCCEEDED:
        return Plan(job_id, (), f"ENRICH_{(enrich or 'missing').upper()}")
    refusal = queries.find_posting_refusal(job_id, needs_trust=True)
    if refusal == "LOW_CONFIDENCE":
        return Plan(job_id, (StageName.SCORE,))
    if refusal:
        return Plan(job_id, (), refusal)
    return Plan(job_id, PREPARATION_ORDER)


def fan_out(
    ref: ExecutionRef, job_ids: Sequence[UUID], *, profile_version: int, workspace_identity: str
) -> dict[str, int]:
    """Start one root preparation per eligible job, in one batch of at most 25, and record the plans.

    Temporal is asked first and the plan written after: a repeat attaches to the same runs. Raises ``RunStopped``
    where the discovery has ended or was asked to stop.
    """
    if len(job_ids) > FANOUT_BATCH:
        raise ValueError(f"a fan-out batch holds at most {FANOUT_BATCH} jobs")
    check_discovery(ref)
    plans = [choose_plan(job_id, profile_version=profile_version) for job_id in job_ids]
    eligible = [plan for plan in plans if plan.steps]
    requests = [_build_request(plan, ref, profile_version, workspace_identity) for plan in eligible]
    started = start_workflows(requests) if requests else []
    for plan, run in zip(eligible, started, strict=True):
        plan_job(ref, plan.job_id, steps=plan.steps, preparation_workflow_id=run.workflow_id)
    for plan in plans:
        if not plan.steps:
            plan_nothing(ref, plan.job_id, reason=plan.reason)
    return {
        "planned": len(eligible),
        "started": sum(not run.existing for run in started),
        "notEligible": len(plans) - len(eligible),
    }


def _build_request(plan: Plan, ref: ExecutionRef, profile_version: int, workspace_identity: str) -> StartRequest:
    key = compute_idempotency_key(plan.job_id, content_event_id=find_content_event_id(plan.job_id))
    return StartRequest(
        "JobPreparationWorkflow",
        f"prep-{key}",
        PreparationInput(
            str(plan.job_id),
            key,
            profile_version,
            workspace_identity,
            tuple(str(step) for step in plan.steps),
            settings.TENANT_ID,
            KIND,
            ref,
        ),
        {"jobId": str(plan.job_id), "steps": ",".join(plan.steps), "kind": KIND},
        retry_failed=True,
    )
