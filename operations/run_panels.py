"""What other apps tell of runs, declared in their ``panels.py``: sections of the run page, and why a run failed.

The engine may not import them, and a run's own end holds one code for all that went wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from operations.models import WorkflowRunProjection
from operations.wording import Wording


@dataclass(frozen=True, slots=True)
class RunFacts:
    run_id: str
    is_open: bool
    error_code: str = ""


Read = Callable[[RunFacts], dict[str, Any] | None]
Explain = Callable[[Sequence[RunFacts]], dict[str, Wording]]


@dataclass(frozen=True, slots=True)
class RunPanel:
    """``read`` gives the template's context, or ``None`` where there is nothing to show."""

    name: str
    workflow_type: str
    template: str
    place: int
    read: Read


@dataclass(frozen=True, slots=True)
class ReadPanel:
    name: str
    template: str
    context: dict[str, Any]


_panels: dict[str, RunPanel] = {}
_explanations: dict[str, Explain] = {}


def run_panel(name: str, *, workflow_type: str, template: str, place: int) -> Callable[[Read], Read]:
    def register(read: Read) -> Read:
        if name in _panels:
            raise ValueError(f"run panel {name} is declared twice")
        _panels[name] = RunPanel(name, workflow_type, template, place, read)
        return read

    return register


def run_failure(workflow_type: str) -> Callable[[Explain], Explain]:
    """Declare why runs of a type failed, by run ID and in one read for many; a run left out keeps its own words."""

    def register(explain: Explain) -> Explain:
        if workflow_type in _explanations:
            raise ValueError(f"the failures of {workflow_type} are explained twice")
        _explanations[workflow_type] = explain
        return explain

    return register


def read_run_panels(run: WorkflowRunProjection, *, is_open: bool) -> list[ReadPanel]:
    """Every panel that has something to show for a run, in order."""
    ordered = sorted(_panels.values(), key=lambda panel: panel.place)
    mine = [panel for panel in ordered if panel.workflow_type == run.workflow_type]
    facts = RunFacts(run.run_id, is_open, run.error_code)
    read = [(panel, panel.read(facts)) for panel in mine]
    return [ReadPanel(panel.name, panel.template, context) for panel, context in read if context is not None]


def explain_failures(runs: Sequence[WorkflowRunProjection]) -> dict[str, Wording]:
    """By run ID, for the failed ones among a page's runs."""
    found: dict[str, Wording] = {}
    for workflow_type, explain in _explanations.items():
        mine = [run for run in runs if run.workflow_type == workflow_type and run.status == "failed"]
        if failed := [RunFacts(run.run_id, False, run.error_code) for run in mine]:
            found |= explain(failed)
    return found
