"""Rows whose owner nobody watches any more: its end is recorded already, or our records do not know it at all.

Its exact execution is described at Temporal, outside any transaction. Only an explicit end releases anything, and only
what that run was started for; one that is running, missing or unknown keeps what it holds.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from operations import queries
from operations.contracts import RunStatus, StageName
from operations.database import writer
from operations.errors import WorkerUnavailable
from operations.models import JobStageState
from operations.queries import HeldBy
from operations.services.describing import RPC_TIMEOUT, Description, Found, describe_run
from operations.stage_engine.settling import HELD, settle_rows
from operations.temporal import call_temporal
from operations.workspace import is_own_identity

if TYPE_CHECKING:
    from temporalio.client import Client, WorkflowHandle

MOST_OWNERS = 20


@dataclass(frozen=True, slots=True)
class Origin:
    """What a run was started for. ``job_ids`` is ``None`` where it chose its jobs itself."""

    steps: frozenset[str]
    job_ids: frozenset[UUID] | None = None

    def covers(self, row: JobStageState) -> bool:
        return row.stage in self.steps and (self.job_ids is None or row.job_id in self.job_ids)


@dataclass(frozen=True, slots=True)
class Answer:
    """``workflow_type`` and its input ``given`` are of a closed run's start; not set where that cannot be read."""

    description: Description
    workflow_type: str = ""
    given: object = None


class _Turn:
    """Where the next pass goes on: an owner of which nothing is known stays, and must not take the others' turns."""

    after = HeldBy("", "")


def recover_owners() -> int:
    """Settle what closed runs still hold; returns the number of rows changed. One read where nothing is held."""
    owners = choose_owners(queries.list_unwatched_owners())
    if not owners:
        return 0
    try:
        answers = call_temporal(lambda client: ask_about(client, owners))
    except WorkerUnavailable:
        return 0
    return sum(settle_owner(owner, answer) for owner, answer in zip(owners, answers, strict=True))


def choose_owners(owners: Sequence[HeldBy]) -> list[HeldBy]:
    """The next few, after those of the pass before."""
    ordered = sorted(owners)
    later = [owner for owner in ordered if owner > _Turn.after]
    chosen = [*later, *(owner for owner in ordered if owner <= _Turn.after)][:MOST_OWNERS]
    _Turn.after = chosen[-1] if len(ordered) > len(chosen) else HeldBy("", "")
    return chosen


def settle_owner(owner: HeldBy, answer: Answer) -> int:
    """Settle what was claimed by this exact run and is covered by its start; what changed hands meanwhile is left.

    Where Temporal has forgotten the run, the end that our own log holds of it counts.
    """
    if answer.description.found is Found.NOT_FOUND:
        return _settle_by_log(owner)
    status = answer.description.status
    if answer.description.found is not Found.CLOSED or status is None:
        return 0
    origin = build_origin(answer.workflow_type, answer.given)
    if origin is None:
        return 0
    with writer():
        held = JobStageState.owned_by(owner.run_id).filter(owner_workflow_id=owner.workflow_id, state__in=HELD)
        own = [row for row in held if origin.covers(row)]
        return settle_rows(own, canceled=status is RunStatus.CANCELED).total


def _settle_by_log(owner: HeldBy) -> int:
    run = queries.find_run_row(owner.run_id)
    if run is None or run.provisional or run.status in queries.OPEN_STATES:
        return 0
    with writer():
        held = JobStageState.owned_by(owner.run_id).filter(owner_workflow_id=owner.workflow_id, state__in=HELD)
        return settle_rows(list(held), canceled=run.status == RunStatus.CANCELED).total


async def ask_about(client: "Client", owners: Sequence[HeldBy]) -> list[Answer]:
    return list(await asyncio.gather(*(_ask(client, owner) for owner in owners)))


async def _ask(client: "Client", owner: HeldBy) -> Answer:
    handle = client.get_workflow_handle(owner.workflow_id, run_id=owner.run_id)
    description = await describe_run(handle)
    if description.found is not Found.CLOSED:
        return Answer(description)
    return await _read_start(client, handle, description)


async def _read_start(client: "Client", handle: "WorkflowHandle[Any, Any]", description: Description) -> Answer:
    """From the run's first event, which nobody can change."""
    from temporalio.service import RPCError

    try:
        async for event in handle.fetch_history_events(page_size=1, rpc_timeout=RPC_TIMEOUT):
            started = event.workflow_execution_started_event_attributes
            given = await client.data_converter.decode(started.input.payloads)
            return Answer(description, started.workflow_type.name, given[0] if given else None)
    except (RPCError, RuntimeError):  # the latter: an input that is not one of ours
        return Answer(description)
    return Answer(description)


def build_origin(workflow_type: str, given: object) -> Origin | None:
    """What a start's input admits: one job's steps, one stage over chosen or all jobs, or a discovery's enrichment."""
    if not isinstance(given, Mapping) or not is_own_identity(str(given.get("workspace_identity"))):
        return None
    try:
        match workflow_type:
            case "JobPreparationWorkflow":
                return Origin(frozenset(given["steps"]), frozenset([UUID(given["job_id"])]))
            case "JobPipelineWorkflow":
                chosen = given["job_ids"]
                ids = None if chosen is None else frozenset(UUID(job_id) for job_id in chosen)
                return Origin(frozenset([given["stage"]]), ids)
            case "DiscoverWorkflow":
                return Origin(frozenset([StageName.ENRICH]))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return None
