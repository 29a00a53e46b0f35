"""What ``GET /v1/health`` says: whether each part of the product works right now."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone

from operations.folding.engine import list_flagged_apps
from operations.folding.registry import list_apps
from operations.models import WorkerRuntimeHeartbeat
from operations.queries import find_fresh_worker
from operations.spend import SpendToday, read_spend_today
from operations.temporal_probe import TemporalState, temporal_probe


class DatabaseState(StrEnum):
    OK = "ok"
    UNREACHABLE = "unreachable"


class WorkerState(StrEnum):
    """``stale``: one was seen, but not within 45 seconds, and it did not say goodbye."""

    ALIVE = "alive"
    STALE = "stale"
    NONE = "none"
    UNKNOWN = "unknown"


class ProjectionState(StrEnum):
    LIVE = "live"
    BEHIND = "behind"
    UNKNOWN = "unknown"


class SpendState(StrEnum):
    WITHIN = "within"
    REACHED = "reached"
    UNLIMITED = "unlimited"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Readiness:
    """``database_vendor`` "" and ``spend`` ``None`` = could not be read."""

    database: DatabaseState
    database_vendor: str
    temporal: TemporalState
    worker: WorkerState
    worker_seen_at: datetime | None
    projections: dict[str, ProjectionState]
    spend: SpendToday | None

    @property
    def projection(self) -> ProjectionState:
        if not self.projections:
            return ProjectionState.UNKNOWN
        return max(self.projections.values(), key=lambda state: state is ProjectionState.BEHIND)

    @property
    def spend_state(self) -> SpendState:
        if self.spend is None:
            return SpendState.UNKNOWN
        if not self.spend.ceiling_usd:
            return SpendState.UNLIMITED
        return SpendState.REACHED if self.spend.spent_usd >= self.spend.ceiling_usd else SpendState.WITHIN

    @property
    def is_ready(self) -> bool:
        """Whether work that is started now would be done."""
        return (
            self.database is DatabaseState.OK
            and self.temporal is TemporalState.REACHABLE
            and self.worker is WorkerState.ALIVE
            and self.projection is ProjectionState.LIVE
        )


def read_readiness() -> Readiness:
    """Five index lookups, and at most every five seconds a question to Temporal of at most one second. Never raises
    because a part is gone."""
    temporal = temporal_probe.read()
    try:
        worker, seen_at = read_worker()
        flagged = set(list_flagged_apps())
        projections = {
            app: ProjectionState.BEHIND if app in flagged else ProjectionState.LIVE for app in sorted(list_apps())
        }
        spend = read_spend_today(timezone.now())
    except (DatabaseError, InterfaceError):
        return Readiness(DatabaseState.UNREACHABLE, "", temporal, WorkerState.UNKNOWN, None, {}, None)
    return Readiness(DatabaseState.OK, connection.vendor, temporal, worker, seen_at, projections, spend)


def read_worker() -> tuple[WorkerState, datetime | None]:
    fresh = find_fresh_worker()
    if fresh is not None:
        return WorkerState.ALIVE, fresh
    last = WorkerRuntimeHeartbeat.objects.order_by("-last_seen_at").values_list("last_seen_at", "stopped_at").first()
    if last is None:
        return WorkerState.NONE, None
    seen_at, stopped_at = last
    return WorkerState.NONE if stopped_at else WorkerState.STALE, seen_at
