"""One discovery run: its plan, its sources, its progress and its end."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from discovery.contracts import DiscoveryEnd, DiscoveryPlan, SkippedPosting
from discovery.events import DiscoveryRunCompleted, DiscoveryRunFailed, DiscoveryRunStarted
from discovery.gateway import Denied, FetchCancelled, FetchError, UnsafeDestination, fetch_json
from discovery.models import DiscoveryRun, DiscoveryRunSource, SourceRegistryEntry
from discovery.services.fence import check_discovery, make_discovery_end_key
from discovery.services.postings import record_postings
from discovery.services.sources import record_source_state
from discovery.sources.base import MalformedBoard, UnknownSource, get_source
from discovery.sources.bundled import FAMILY as BUNDLED
from discovery.sources.bundled import find_bundled_board, read_bundled_board
from operations.contracts import ExecutionRef, StepKind
from operations.database import OUTAGES, writer
from operations.errors import NotConfigured, OperationsError
from operations.eventlog import append
from operations.log_lines import note_places
from operations.metrics import record_attempt
from operations.services.steps import fail_open_steps, queue_step
from operations.settings_store import get_setting

log = logging.getLogger(__name__)

_HOPELESS = {
    Denied.code: Denied.error_type,
    UnsafeDestination.code: UnsafeDestination.error_type,
    "MALFORMED_BOARD": "source_unavailable",
    "INTERNAL_ERROR": "source_unavailable",
}
SPINE_STEPS = 2  # the terminal enrichment and the terminal preparation


@dataclass(frozen=True, slots=True)
class SourceFailure:
    """How one source failed: our code, the ``ApplicationError`` type and whether a retry may help."""

    source_id: str
    code: str
    error_type: str
    retryable: bool
    message: str


def plan_run(ref: ExecutionRef, *, families: Sequence[str] = ()) -> DiscoveryPlan:
    """Freeze what this run crawls; repeating it gives the same plan.

    Raises ``NotConfigured`` where no source is enabled, ``RunStopped`` where the run has ended or is to stop.
    """
    return DiscoveryPlan(_freeze_plan(ref, families), _choose_parallelism())


def _freeze_plan(ref: ExecutionRef, families: Sequence[str]) -> tuple[str, ...]:
    entries = SourceRegistryEntry.objects.filter(enabled=True).order_by("family", "id")
    if families:
        entries = entries.filter(family__in=families)
    with writer():
        check_discovery(ref)
        if frozen := _list_planned_families(ref):
            return frozen
        chosen = list(entries)
        if not chosen:
            raise NotConfigured("No source is enabled. Add one with: manage.py add_source KIND BOARD")
        names = tuple(dict.fromkeys(entry.family for entry in chosen))
        now = timezone.now()
        DiscoveryRun.objects.create(
            run_id=ref.run_id,
            tenant_id=settings.TENANT_ID,
            workflow_id=ref.workflow_id,
            progress_total=len(names) + SPINE_STEPS,
            started_at=now,
        )
        DiscoveryRunSource.objects.bulk_create(
            [
                DiscoveryRunSource(
                    tenant_id=settings.TENANT_ID,
                    run_id=ref.run_id,
                    source_id=entry.id,
                    family=entry.family,
                    updated_at=now,
                )
                for entry in chosen
            ]
        )
        append(
            DiscoveryRunStarted(workflow_id=ref.workflow_id, run_id=ref.run_id, families=names, sources=len(chosen)),
            key=f"discovery:{ref.run_id}:started",
        )
        for name in names:
            queue_step(ref, StepKind.SOURCE_FAMILY, item_key=name)
    return names


def _list_planned_families(ref: ExecutionRef) -> tuple[str, ...]:
    planned = DiscoveryRunSource.objects.filter(run_id=ref.run_id).order_by("family", "source_id")
    return tuple(dict.fromkeys(planned.values_list("family", flat=True)))


def _choose_parallelism() -> int:
    """Two slots stay free for enrichment and preparation, but one family always runs."""
    wanted, slots = int(get_setting("max_parallel_families")), int(get_setting("worker_activity_slots"))
    return max(1, min(wanted, slots - 2))


def list_open_sources(ref: ExecutionRef, family: str) -> list[str]:
    """Sources of a family that this run has not read yet, nor found hopeless."""
    rows = DiscoveryRunSource.objects.filter(run_id=ref.run_id, family=family).exclude(state="succeeded")
    return list(rows.exclude(state="failed", retryable=False).order_by("source_id").values_list("source_id", flat=True))


def list_failures(ref: ExecutionRef, family: str) -> list[tuple[str, str]]:
    """(source id, error code) of what failed for good in a family."""
    rows = DiscoveryRunSource.objects.filter(run_id=ref.run_id, family=family, state="failed")
    return list(rows.order_by("source_id").values_list("source_id", "error_code"))


def find_error_type(code: str) -> str:
    """The ``ApplicationError`` type of what failed for good, also where an earlier attempt had found it so."""
    return _HOPELESS.get(code, FetchError.error_type)


def crawl_source(
    ref: ExecutionRef, source_id: str, *, attempt: int, is_cancelled: Callable[[], bool]
) -> SourceFailure | None:
    """Read one source and accept its postings. Its failure is returned, typed; it never stops the others.

    Raises ``FetchCancelled`` when the activity is asked to stop, ``RunStopped`` when the run was or has ended.
    """
    entry = SourceRegistryEntry.objects.get(id=source_id)
    started = timezone.now()
    try:
        counts = _read_board(ref, entry, is_cancelled)
    except FetchError as error:
        failure = SourceFailure(source_id, error.code, error.error_type, error.retryable, error.message)
    except (MalformedBoard, UnknownSource) as error:
        failure = SourceFailure(source_id, "MALFORMED_BOARD", "source_unavailable", False, str(error)[:200])
    except (FetchCancelled, OperationsError, *OUTAGES):
        raise
    except Exception as error:  # a bug that this board's answer brings out: the others are read all the same
        log.error("reading %s raised %s", source_id, type(error).__name__)
        note_places(log, error)
        message = f"An unexpected {type(error).__name__} while reading this board; the worker's log has its place."
        failure = SourceFailure(source_id, "INTERNAL_ERROR", "source_unavailable", False, message)
    else:
        _record_source(ref, entry, counts, None, attempt, started)
        return None
    _record_source(ref, entry, {}, failure, attempt, started)
    return failure


def _read_board(ref: ExecutionRef, entry: SourceRegistryEntry, is_cancelled: Callable[[], bool]) -> dict[str, int]:
    """Accept what one board shows now; what was counted."""
    payload = _read_payload(entry, is_cancelled)
    parsed = get_source(entry.kind).parse_board(payload, board=entry.board)
    limit = int(get_setting("results_per_board"))
    accepted = record_postings(entry.id, parsed.postings[:limit], execution_ref=ref)
    skipped = (*parsed.skipped, *accepted.skipped)
    return {
        "postings": len(parsed.postings),
        "new": accepted.new,
        "existing": accepted.existing,
        "updated": accepted.updated,
        "skipped": len(skipped),
        "beyondLimit": max(0, len(parsed.postings) - limit),
        **count_skips(skipped),
    }


def count_skips(skipped: Sequence[SkippedPosting]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in skipped:
        counts[f"skipped_{row.reason}"] = counts.get(f"skipped_{row.reason}", 0) + 1
    return counts


def _read_payload(entry: SourceRegistryEntry, is_cancelled: Callable[[], bool]) -> object:
    if entry.family == BUNDLED:
        board = find_bundled_board(entry.kind, entry.board)
        if board is None:
            raise UnknownSource(f"{entry.board} is not a bundled board")
        return read_bundled_board(board)
    source = get_source(entry.kind)
    url = source.list_url(entry.board, base_url=entry.base_url) if entry.base_url else source.list_url(entry.board)
    return fetch_json(url, cancelled=is_cancelled)


def _record_source(
    ref: ExecutionRef,
    entry: SourceRegistryEntry,
    counts: dict[str, int],
    failure: SourceFailure | None,
    attempt: int,
    started: datetime,
) -> None:
    outcome = "failed" if failure else "succeeded"
    now = timezone.now()
    with writer():
        check_discovery(ref)
        DiscoveryRunSource.objects.filter(run_id=ref.run_id, source_id=entry.id).update(
            state=outcome,
            error_code=failure.code if failure else "",
            retryable=failure.retryable if failure else True,
            counts=counts,
            updated_at=now,
        )
        record_source_state(entry.id, state=outcome, error_code=failure.code if failure else "")
        record_attempt(
            stage="discover",
            attempt_kind="source",
            attempt=attempt,
            outcome=outcome,
            counts=counts,
            duration_ms=int((now - started).total_seconds() * 1000),
            error_class=failure.code if failure else "",
            error_message=failure.message if failure else "",
            run_id=ref.run_id,
            source_id=entry.id,
            source_role=entry.family,
            adapter=entry.kind,
        )


def sum_family_counts(ref: ExecutionRef, family: str) -> dict[str, int]:
    totals: dict[str, int] = {}
    rows = DiscoveryRunSource.objects.filter(run_id=ref.run_id, family=family).values_list("state", "counts")
    for state, counts in rows:
        totals[f"sources_{state}"] = totals.get(f"sources_{state}", 0) + 1
        for name, value in counts.items():
            totals[name] = totals.get(name, 0) + value
    return totals


def advance_progress(ref: ExecutionRef, *, remaining: int) -> None:
    """Move the spine's monotonic counter so that ``remaining`` steps are left; it never falls."""
    with writer():
        run = DiscoveryRun.objects.get(run_id=ref.run_id)
        done = max(run.progress_done, run.progress_total - remaining)
        DiscoveryRun.objects.filter(run_id=ref.run_id).update(progress_done=done)


def count_family_done(ref: ExecutionRef) -> None:
    """One more family has ended; at most all of them."""
    with writer():
        DiscoveryRun.objects.filter(run_id=ref.run_id, progress_done__lt=F("progress_total") - SPINE_STEPS).update(
            progress_done=F("progress_done") + 1
        )


def end_run(end: DiscoveryEnd) -> None:
    """Record how the run ended, once, and with it the end of every step that can no longer end by itself.

    A row or a step that a late thread put there after the end was logged is ended by the repeat.
    """
    ref = end.execution_ref
    with writer():
        if end.error_code:
            append(
                DiscoveryRunFailed(
                    workflow_id=ref.workflow_id, run_id=ref.run_id, error_code=end.error_code, counts=end.counts
                ),
                key=make_discovery_end_key(ref.run_id),
            )
        else:
            append(
                DiscoveryRunCompleted(workflow_id=ref.workflow_id, run_id=ref.run_id, counts=end.counts),
                key=make_discovery_end_key(ref.run_id),
            )
        DiscoveryRun.objects.filter(run_id=ref.run_id, ended_at__isnull=True).update(
            status="failed" if end.error_code else "succeeded",
            error_code=end.error_code,
            counts=end.counts,
            ended_at=timezone.now(),
        )
        fail_open_steps(ref, error_code=end.error_code)
