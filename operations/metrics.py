"""Operational metrics: one append-only row for each attempt at a pipeline boundary."""

from uuid import UUID

from django.conf import settings
from django.utils import timezone

from operations.compiled import CompiledInsert
from operations.database import require_write
from operations.models import OperationalAttemptMetric

_INSERT = CompiledInsert(OperationalAttemptMetric)


def record_attempt(
    *,
    stage: str,
    attempt_kind: str,
    outcome: str,
    attempt: int = 1,
    counts: dict[str, int] | None = None,
    duration_ms: int = 0,
    error_class: str = "",
    error_message: str = "",
    run_id: str = "",
    job_id: UUID | None = None,
    job_url: str = "",
    source_id: str = "",
    source_role: str = "",
    adapter: str = "",
) -> None:
    """Append one row inside ``writer()``. ``error_message`` is our own bounded sentence, never an exception's text."""
    require_write()
    _INSERT.run(
        tenant_id=settings.TENANT_ID,
        stage=stage,
        source_id=source_id,
        source_role=source_role,
        adapter=adapter,
        attempt_kind=attempt_kind,
        attempt=attempt,
        outcome=outcome,
        counts=counts or {},
        duration_ms=duration_ms,
        error_class=error_class,
        error_message=error_message[:300],
        run_id=run_id,
        job_id=job_id,
        job_url=job_url[:400],
        recorded_at=timezone.now(),
    )
