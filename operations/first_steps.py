"""What a new workspace needs before its first run, declared by the app that can tell whether it is done."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FirstStep:
    """``url_name`` is the page where it is done."""

    place: int
    title: str
    text: str
    url_name: str
    action: str
    is_done: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class ShownStep:
    step: FirstStep
    done: bool
    is_next: bool


_steps: list[FirstStep] = []


def first_step(
    *, place: int, title: str, text: str, url_name: str, action: str
) -> Callable[[Callable[[], bool]], Callable[[], bool]]:
    def register(is_done: Callable[[], bool]) -> Callable[[], bool]:
        _steps.append(FirstStep(place, title, text, url_name, action, is_done))
        return is_done

    return register


def read_first_steps() -> list[ShownStep]:
    """Every step in order, the first open one marked; empty once all are done."""
    shown: list[ShownStep] = []
    met_open = False
    for step in sorted(_steps, key=lambda item: item.place):
        done = step.is_done()
        shown.append(ShownStep(step, done, not done and not met_open))
        met_open = met_open or not done
    return shown if met_open else []
