"""``/v1/workflow-runs`` says which open runs nobody can vouch for."""

from collections.abc import Callable

import pytest

from operations.contracts import RunStatus, WorkflowOutcome, WorkflowStart
from operations.services.runs import record_dispatched, record_outcome
from operations.temporal_probe import TemporalAnswer, TemporalState, temporal_probe
from tests.operations.api.conftest import Script
from tests.operations.spending import attempt

pytestmark = pytest.mark.django_db


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch) -> Callable[[TemporalState], None]:
    """What is known of Temporal."""
    return lambda state: monkeypatch.setattr(temporal_probe, "peek", lambda: TemporalAnswer(state))


def read_checked(script: Script) -> dict[str, bool]:
    listed = {run["runId"]: run["checked"] for run in script.get("/v1/workflow-runs").json()["runs"]}
    shown = {run_id: script.get(f"/v1/workflow-runs/{run_id}").json()["checked"] for run_id in listed}
    assert listed == shown
    return listed


def test_an_open_run_is_checked_while_temporal_answers(script: Script, say: Callable[[TemporalState], None]) -> None:
    record_dispatched(WorkflowStart("prep-open", "open", "JobPreparationWorkflow", {}))
    record_dispatched(WorkflowStart("prep-done", "done", "JobPreparationWorkflow", {}))
    record_outcome(WorkflowOutcome("prep-done", "done", "JobPreparationWorkflow", RunStatus.SUCCEEDED))

    say(TemporalState.REACHABLE)
    assert read_checked(script) == {"open": True, "done": True}
    say(TemporalState.UNREACHABLE)
    assert read_checked(script) == {"open": False, "done": True}
    say(TemporalState.UNKNOWN)
    assert read_checked(script) == {"open": False, "done": True}


def test_what_a_run_asked_of_models_stands_beside_it(script: Script) -> None:
    for run_id in ("told", "partly", "untold", "builtin"):
        record_dispatched(WorkflowStart(f"prep-{run_id}", run_id, "JobPreparationWorkflow", {}))
    for _ in range(2):
        attempt("0.25", run_id="told")
    attempt("0.10", run_id="partly")
    attempt(run_id="partly")
    attempt(run_id="untold")
    attempt("9.00", run_id="another")

    listed = {run["runId"]: run for run in script.get("/v1/workflow-runs").json()["runs"]}

    costs = {run_id: (run["costUsd"], run["modelCalls"], run["unknownCalls"]) for run_id, run in listed.items()}
    assert costs == {"told": (0.5, 2, 0), "partly": (0.1, 2, 1), "untold": (None, 1, 1), "builtin": (None, 0, 0)}
    for run_id, run in listed.items():
        assert script.get(f"/v1/workflow-runs/{run_id}").json() == {**run, "pendingActivities": []}
