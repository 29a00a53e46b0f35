"""Reads behind the topbar: who works now, and how many jobs wait for a person."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, Max, OuterRef, Q, Sum
from django.utils import timezone

from operations.contracts import HEARTBEAT_FRESH_SECONDS, StageName, StageState
from operations.models import JobListProjection, JobStageState, WorkerRuntimeHeartbeat

#: A stage row in one of these waits for a person, as does a failure that a retry would only repeat.
PERSON_STATES: Final = (StageState.EXHAUSTED, StageState.NEEDS_VERIFICATION)


@dataclass(frozen=True, slots=True)
class WorkerLoad:
    """``fresh_seconds``: for how long it may still be said of a worker that it is alive."""

    busy: int
    slots: int
    fresh_seconds: int


def find_worker_load() -> WorkerLoad | None:
    """Slots of every worker seen within 45 seconds, together; ``None`` when there is none."""
    since = timezone.now() - timedelta(seconds=HEARTBEAT_FRESH_SECONDS)
    fresh = WorkerRuntimeHeartbeat.objects.filter(last_seen_at__gte=since, stopped_at__isnull=True)
    total = fresh.aggregate(busy=Sum("slots_busy"), slots=Sum("slots"), seen_at=Max("last_seen_at"))
    if total["slots"] is None:
        return None
    return WorkerLoad(total["busy"], total["slots"], max(int((total["seen_at"] - since).total_seconds()), 0))


def list_needing_person(*, limit: int) -> list[UUID]:
    """Visible jobs with a stage that only a person can move on, at most ``limit``; reads the state index."""
    stuck = Q(state__in=(*PERSON_STATES, StageState.FAILED)) & ~Q(state=StageState.FAILED, retryable=True)
    visible = JobListProjection.objects.filter(job_id=OuterRef("job_id"), deleted=False, hidden=False)
    rows = JobStageState.objects.filter(stuck, Exists(visible), tenant_id=settings.TENANT_ID, stage__in=list(StageName))
    # Doubles are dropped here: asked for DISTINCT, SQLite may walk every stage row in the order of its jobs.
    found = rows.order_by().values_list("job_id", flat=True)[: 2 * limit]
    return list(dict.fromkeys(found))[:limit]
