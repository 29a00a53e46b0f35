"""On whose behalf a model is called: set where a stage begins its work, read where an attempt is recorded."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Caller:
    workflow_id: str = ""
    run_id: str = ""
    activity_attempt: int = 1
    job_id: UUID | None = None
    stage: str = ""
    check_stop: Callable[[], None] = lambda: None  # raises where no further call may begin


_caller: ContextVar[Caller] = ContextVar("llm_caller", default=Caller())  # noqa: B039 - it is frozen


@contextmanager
def calling_as(caller: Caller) -> Iterator[None]:
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


def get_caller() -> Caller:
    return _caller.get()
