"""What an app declares about a stage, and the plain data that passes through its lifecycle."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from operations.contracts import ExecutionRef, StageName, StageState


@dataclass(frozen=True, slots=True)
class Owner:
    """Who works on a row: the exact workflow run and the Temporal attempt of its activity."""

    workflow_id: str
    run_id: str
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Claim:
    """Leave to work on one job's stage, valid while ``epoch`` is still the row's."""

    job_id: UUID
    stage: StageName
    owner: Owner
    epoch: int
    attempt: int
    baseline_version: int
    profile_version: int
    execution_ref: ExecutionRef | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a claim was not given. With ``settle_as`` the row itself moves to that state."""

    state: str
    code: str
    settle_as: StageState | None = None
    blocked_by: str = ""


@dataclass(frozen=True, slots=True)
class Hold:
    """A policy of the operator's that keeps every later stage from running, e.g. ``MIN_SCORE``."""

    code: str
    applies: bool


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a published stage ended. ``hold`` skips later stages by policy, or releases what it held."""

    code: str = ""
    hold: Hold | None = None
    counts: dict[str, int] | None = None


class Stage(ABC):
    """One stage as its app implements it. All hooks but ``run`` and ``find_first_lane`` are called in ``writer()``."""

    name: ClassVar[StageName]
    lanes: ClassVar[tuple[str, ...]]
    max_attempts: ClassVar[int]

    def find_refusal(self, job_id: UUID, *, profile_version: int) -> Refusal | None:
        """A precondition of the stage's own that is not met, read under the writer."""
        return None

    def find_first_lane(self, job_id: UUID) -> str:
        """The lane whose model the work on this job would ask first, "" where it asks none."""
        return self.lanes[0] if self.lanes else ""

    @abstractmethod
    def find_result_version(self, job_id: UUID) -> int:
        """Version of the newest accepted result, 0 for none: the baseline of a claim."""

    @abstractmethod
    def run(self, claim: Claim, *, is_cancelled: Callable[[], bool]) -> Any:
        """Do the work, holding no transaction. Raises ``StageFailure``; returns what ``publish`` takes."""

    @abstractmethod
    def publish(self, claim: Claim, result: Any) -> Settlement:
        """Store the result and append its events, behind the fence and inside ``writer()``."""

    def settle_found(self, job_id: UUID) -> Settlement:
        """How a result that is already stored settles its row: a policy hold must count then as well."""
        return Settlement()

    def record_failure(self, claim: Claim, *, code: str, retryable: bool) -> None:  # noqa: B027 - optional
        """Append the app's own failure event, if it has one; inside ``writer()``. Also called in place of an owner
        that has died, without the profile's version."""

    def record_cancellation(self, claim: Claim) -> None:  # noqa: B027 - optional
        """End what ``run`` had recorded as begun, once its work was canceled; inside ``writer()``, as above."""

    def describe_job(self, job_id: UUID) -> str:
        """The posting URL for operational metrics, or ""."""
        return ""


_stages: dict[StageName, Stage] = {}

JobGate = Callable[[UUID], Refusal | None]
_gates: list[JobGate] = []


def job_gate(gate: JobGate) -> JobGate:
    """Register what must hold of a job before any stage may claim it; called inside ``writer()``."""
    _gates.append(gate)
    return gate


def find_gate_refusal(job_id: UUID) -> Refusal | None:
    return next((refusal for gate in _gates if (refusal := gate(job_id))), None)


def stage(name: str, *, lanes: tuple[str, ...] = (), max_attempts: int = 5) -> Callable[[type[Stage]], type[Stage]]:
    """Register the implementation of one canonical stage."""

    def register(cls: type[Stage]) -> type[Stage]:
        known = StageName(name)
        if known in _stages:
            raise ValueError(f"stage {name} is declared twice")
        cls.name, cls.lanes, cls.max_attempts = known, lanes, max_attempts
        _stages[known] = cls()
        return cls

    return register


def find_stage(name: str) -> Stage | None:
    return _stages.get(StageName(name))


def get_stage(name: str) -> Stage:
    found = find_stage(name)
    if found is None:
        raise LookupError(f"no app implements the stage {name}")
    return found


def list_stages() -> list[Stage]:
    return [_stages[name] for name in StageName if name in _stages]
