"""Following a run from a command: until it and the preparations it started have ended."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from operations import queries
from operations.contracts import ExecutionRef
from operations.processes.interrupts import raise_if_asked
from operations.stage_engine.counters import read_counters
from operations.wording import describe_code

POLL_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How the run ended. Of the preparations that it planned, ``unfinished`` were still open when the time was up, and
    ``failed`` ended otherwise than well."""

    status: str
    error_code: str
    result: dict[str, str]
    unfinished: int = 0
    failed: int = 0


def follow_run(run_id: str, *, show: Callable[[str], None], timeout_seconds: float) -> RunEnd:
    """Wait for one run; raises ``TimeoutError`` naming what is still open."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        run = queries.find_run(run_id)
        if run is not None and run.status not in queries.OPEN_STATES:
            return RunEnd(run.status, run.error_code, run.result)
        if time.monotonic() > deadline:
            raise TimeoutError(f"run {run_id} has not ended within {timeout_seconds:.0f} s; it goes on by itself")
        show(describe_counts(read_counters()))
        raise_if_asked()
        time.sleep(POLL_SECONDS)


def follow_discovery(ref: ExecutionRef, *, show: Callable[[str], None], timeout_seconds: float) -> RunEnd:
    """Wait for a discovery run and then for every preparation that it planned."""
    deadline = time.monotonic() + timeout_seconds
    end = follow_run(ref.run_id, show=show, timeout_seconds=timeout_seconds)
    planned = queries.list_preparations(ref)
    while (still_open := queries.count_open_runs(planned)) and time.monotonic() < deadline:
        show(f"{len(planned) - still_open} of {len(planned)} jobs prepared")
        raise_if_asked()
        time.sleep(POLL_SECONDS)
    return RunEnd(end.status, end.error_code, end.result, still_open, queries.count_failed_runs(planned))


def describe_end(end: RunEnd) -> str:
    """How the run ended and, where it failed, what helps."""
    return f"It {end.status} with {explain_code(end.error_code)}" if end.error_code else f"It {end.status}."


def explain_code(code: str) -> str:
    """The code, what it stands for, and what helps."""
    reason = describe_code(code)
    return f"{code}." if reason is None else f"{code}: {reason.short}. {reason.remedy}".rstrip()


def describe_counts(counts: dict[str, dict[str, int]]) -> str:
    """One line: how many jobs have finished each stage."""
    parts = [f"{states.get('succeeded', 0)}/{sum(states.values())} {stage}" for stage, states in counts.items()]
    return ", ".join(parts) or "starting"
