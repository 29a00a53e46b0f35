"""Sections of the job page, declared by the app that owns what they show in its ``panels.py``."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

Read = Callable[[UUID], dict[str, Any] | None]


@dataclass(frozen=True, slots=True)
class JobPanel:
    """``read`` gives the template's context, or ``None`` where there is nothing to show yet."""

    name: str
    template: str
    place: int
    read: Read


_panels: dict[str, JobPanel] = {}


def job_panel(name: str, *, template: str, place: int) -> Callable[[Read], Read]:
    def register(read: Read) -> Read:
        if name in _panels:
            raise ValueError(f"job panel {name} is declared twice")
        _panels[name] = JobPanel(name, template, place, read)
        return read

    return register


@dataclass(frozen=True, slots=True)
class ReadPanel:
    name: str
    template: str
    context: dict[str, Any]


def read_panels(job_id: UUID) -> list[ReadPanel]:
    """Every panel that has something to show for a job, in order."""
    ordered = sorted(_panels.values(), key=lambda panel: panel.place)
    read = [(panel, panel.read(job_id)) for panel in ordered]
    return [ReadPanel(panel.name, panel.template, context) for panel, context in read if context is not None]
