"""What a person may do to a job: each action is one service call, registered by the app that owns it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from operations.errors import OperationsError
from operations.services.starts import Started


class ActionRefused(OperationsError):
    """The action was refused."""

    code = "not_eligible"


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """``options`` are the request's own fields (``stage``, ``run``); ``idempotency_key`` "" = none."""

    job_ids: Sequence[UUID]
    actor: str
    options: dict[str, Any] = field(default_factory=dict)
    idempotency_key: str = ""


@dataclass(frozen=True, slots=True)
class ActionResult:
    """``done`` were changed, ``refused`` maps the others to a bounded code; ``started`` is a run that now works."""

    done: Sequence[UUID]
    refused: dict[UUID, str] = field(default_factory=dict)
    started: Started | None = None


Perform = Callable[[ActionRequest], ActionResult]


@dataclass(frozen=True, slots=True)
class JobAction:
    """``label`` is the button's; ``consequence`` the sentence asked before a destructive one; "" asks nothing."""

    name: str
    label: str
    perform: Perform
    consequence: str = ""
    needs_stage: bool = False


_actions: dict[str, JobAction] = {}


def job_action(
    name: str, *, label: str, consequence: str = "", needs_stage: bool = False
) -> Callable[[Perform], Perform]:
    """Register an action under its name in ``POST jobs/{jobId}/actions/{name}``."""

    def register(perform: Perform) -> Perform:
        if name in _actions:
            raise ValueError(f"job action {name} is declared twice")
        _actions[name] = JobAction(name, label, perform, consequence, needs_stage)
        return perform

    return register


def find_action(name: str) -> JobAction | None:
    return _actions.get(name)


def list_actions() -> list[JobAction]:
    return list(_actions.values())
