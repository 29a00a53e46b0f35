"""Who asked Temporal to cancel a run, as the run's own history says: whoever it was, by whatever way."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from operations.contracts import RunStatus, WorkflowOutcome
from operations.database import writer
from operations.ended_runs import CancelEvidence, has_run_ended, list_cancel_facts, make_cancel_key
from operations.eventlog import append
from operations.events import REQUESTER_LIMIT, WorkflowCancellationRequested
from operations.services.runs import record_outcome
from operations.temporal import call_temporal

if TYPE_CHECKING:
    from temporalio.api.history.v1 import HistoryEvent
    from temporalio.client import Client

log = logging.getLogger(__name__)

ASKED_AT_ONCE = 20
PAGE = 500
MOST_PAGES = 20
RPC_TIMEOUT = timedelta(seconds=10)
BEFORE_END = timedelta(seconds=3)  # a local activity has 30 s, and the end must be recorded whatever comes of this


def record_workflow_end(outcome: WorkflowOutcome) -> None:
    """As a run writes its own end: of a canceled one, who asked for it is read and logged first where that can be."""
    requester = None
    if outcome.status == RunStatus.CANCELED:
        requester = find_requesters([(outcome.workflow_id, outcome.run_id)], timeout=BEFORE_END).get(outcome.run_id)
    record_canceled_end(outcome, requester, evidence=CancelEvidence.TEMPORAL_HISTORY)


def record_canceled_end(outcome: WorkflowOutcome, requester: str | None, *, evidence: CancelEvidence) -> bool:
    """The run's end, and before it who canceled it; ``None`` = not known to have been asked. True where it was new."""
    with writer():
        if requester is not None and not has_run_ended(outcome.run_id):
            record_request(outcome.workflow_id, outcome.run_id, requester, evidence=evidence)
        return record_outcome(outcome)


def record_request(workflow_id: str, run_id: str, requester: str, *, evidence: CancelEvidence) -> bool:
    """From then on nothing is claimed or published in the run's name, whether or not a worker is at work on it."""
    with writer():
        logged = append(
            WorkflowCancellationRequested(
                workflow_id=workflow_id, run_id=run_id, evidence=evidence, requester=requester[:REQUESTER_LIMIT]
            ),
            key=make_cancel_key(run_id, evidence),
        )
    return logged is not None


def find_requesters(runs: Sequence[tuple[str, str]], *, timeout: timedelta = timedelta(seconds=60)) -> dict[str, str]:
    """By run ID, of those (workflow ID, run ID) whose history says so and whose log does not yet. Never raises."""
    known = list_cancel_facts([run_id for _, run_id in runs], CancelEvidence.TEMPORAL_HISTORY)
    wanted = [(workflow_id, run_id) for workflow_id, run_id in runs if run_id not in known]
    if not wanted:
        return {}
    try:
        found = call_temporal(lambda client: _read_all(client, wanted), timeout=timeout)
    except Exception as error:
        log.warning("who asked for %d cancellations could not be read: %s", len(wanted), type(error).__name__)
        return {}
    named = zip(wanted, found, strict=True)
    return {run_id: requester for (_, run_id), requester in named if requester is not None}


async def _read_all(client: "Client", runs: Sequence[tuple[str, str]]) -> list[str | None]:
    from temporalio.service import RPCError

    gate = asyncio.Semaphore(ASKED_AT_ONCE)

    async def read(workflow_id: str, run_id: str) -> str | None:
        async with gate:
            try:
                return await read_requester(client, workflow_id, run_id)
            except RPCError:
                return None

    return list(await asyncio.gather(*(read(*run) for run in runs)))


async def read_requester(client: "Client", workflow_id: str, run_id: str) -> str | None:
    """The identity that asked for this run's cancellation; ``None`` where nobody did. Read from the newest event back,
    and given up ("") where the history is endless."""
    from temporalio.api.common.v1 import WorkflowExecution
    from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryReverseRequest as Request

    token = b""
    for _ in range(MOST_PAGES):
        page = await client.workflow_service.get_workflow_execution_history_reverse(
            Request(
                namespace=client.namespace,
                execution=WorkflowExecution(workflow_id=workflow_id, run_id=run_id),
                maximum_page_size=PAGE,
                next_page_token=token,
            ),
            timeout=RPC_TIMEOUT,
        )
        for event in page.history.events:
            if (requester := find_identity(event)) is not None:
                return requester
        token = page.next_page_token
        if not token:
            return None
    return ""


def find_identity(event: "HistoryEvent") -> str | None:
    """It comes from outside: bounded, and without what a database or a page could choke on."""
    if not event.HasField("workflow_execution_cancel_requested_event_attributes"):
        return None
    identity = event.workflow_execution_cancel_requested_event_attributes.identity
    return "".join(letter for letter in identity if letter.isprintable())[:REQUESTER_LIMIT]
