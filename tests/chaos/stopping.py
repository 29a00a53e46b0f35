"""Runs ended from outside, past the product: canceled or terminated at Temporal itself."""

import random
from dataclasses import dataclass, field
from typing import Literal

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from tests.worker.workspace import Workspace

How = Literal["canceled", "terminated"]
#: Temporal did not take the request, or nobody knows whether it did.
GONE = (RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED)


@dataclass(slots=True)
class Stops:
    """``accepted`` maps a run's id to how Temporal was told to end it."""

    workspace: Workspace
    dice: random.Random
    accepted: dict[str, How] = field(default_factory=dict)

    def stop_one(self, how: How) -> bool:
        """End one open run, chosen at random; false where there was none or Temporal did not accept it."""
        runs = self.workspace.query(
            "SELECT workflow_id, run_id FROM workflow_run_projections WHERE status IN ('starting', 'in_progress') "
            "ORDER BY workflow_id, run_id"
        )
        open_runs = [(workflow_id, run_id) for workflow_id, run_id in runs if run_id not in self.accepted]
        if not open_runs:
            return False
        workflow_id, run_id = self.dice.choice(open_runs)

        async def ask(client: Client) -> bool:
            handle = client.get_workflow_handle(workflow_id, run_id=run_id)
            try:
                await (handle.cancel() if how == "canceled" else handle.terminate("chaos"))
            except RPCError as error:
                if error.status is RPCStatusCode.NOT_FOUND or error.status in GONE:
                    return False
                raise
            return True

        if not self.workspace.call_temporal(ask):
            return False
        self.accepted[run_id] = how
        return True

    def list_faults(self) -> list[str]:
        """A run that was told to cancel has ended so, or well where it was past its work. What a terminated one must
        be is for ``truth.agree`` to say, which knows when each of the two recorded its end."""
        faults = []
        for run_id in (run_id for run_id, how in self.accepted.items() if how == "canceled"):
            status = self.workspace.find_run_status(run_id)
            if status not in ("canceled", "succeeded"):
                faults.append(f"run {run_id} was canceled from outside and is {status} here")
        return faults

    def find_unexplained(self) -> list[str]:
        """A run that ended canceled has on record that it was asked to stop, although nobody asked the product."""
        asked = {payload["runId"] for _, payload in self.workspace.list_events("WorkflowCancellationRequested")}
        return [
            f"run {run_id} was canceled from outside, and the log does not say that anybody asked for it"
            for run_id, how in self.accepted.items()
            if how == "canceled" and run_id not in asked and self.workspace.find_run_status(run_id) == "canceled"
        ]
