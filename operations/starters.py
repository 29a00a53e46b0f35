"""How each stage is started by hand; apps above register what the engine may not import."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from operations.contracts import STAGE_AFTER, StageName
from operations.errors import MissingInput, NotConfigured, OperationsError
from operations.services.starts import Started, start_pipeline

MOST_JOBS = 100_000  # that a person may ask for at once


class StageNotStartable(OperationsError):
    """This stage cannot be started by hand."""

    code = "not_eligible"


@dataclass(frozen=True, slots=True)
class StartOrder:
    """A start asked for by a person. ``job_ids`` ``None`` = every eligible job; ``asked`` is what a repeat under the
    same key must ask too, "" = the order itself."""

    stage: StageName
    job_ids: Sequence[UUID] | None = None
    limit: int = 0
    idempotency_key: str = ""
    asked: str = ""


Starter = Callable[[StartOrder], Started]
_starters: dict[StageName, Starter] = {}
_profile_source: list[Callable[[], int]] = []


def stage_starter(stage: StageName) -> Callable[[Starter], Starter]:
    """Register how a stage that is not a per-job one is started (discover)."""

    def register(starter: Starter) -> Starter:
        _starters[stage] = starter
        return starter

    return register


def profile_version_source(find: Callable[[], int]) -> Callable[[], int]:
    """Register where the newest profile version is read; raises ``MissingInput`` where there is none."""
    _profile_source.append(find)
    return find


def get_profile_version() -> int:
    if not _profile_source:
        raise NotConfigured("No app provides the candidate's profile.")
    return _profile_source[0]()


def choose_profile_version(stage: StageName) -> int:
    """The newest; 0 where there is none and the stage reads none."""
    try:
        return get_profile_version()
    except MissingInput:
        if stage is StageName.ENRICH:
            return 0
        raise


def start_stage(order: StartOrder) -> Started:
    """Start a stage. Raises ``WorkerUnavailable`` before anything changes, ``MissingInput`` without the profile that
    every stage but enrich needs."""
    if order.stage in _starters:
        return _starters[order.stage](order)
    if order.stage not in STAGE_AFTER or order.stage is StageName.APPLY:
        raise StageNotStartable(f"{order.stage} cannot be started by hand.")
    return start_pipeline(
        order.stage,
        profile_version=choose_profile_version(order.stage),
        job_ids=order.job_ids,
        limit=order.limit,
        idempotency_key=order.idempotency_key,
        asked=order.asked,
    )
