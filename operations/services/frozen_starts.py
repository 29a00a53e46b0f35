"""Starts that were promised with a reset: kept until Temporal has accepted them, and repeated under the same ID."""

import logging
from dataclasses import asdict
from datetime import timedelta

from django.db.models import F
from django.utils import timezone

from operations.database import writer
from operations.errors import WorkerUnavailable
from operations.models import FrozenStart, StartReceipt
from operations.services.starts import Started, StartRequest, hash_text, start_workflows

log = logging.getLogger(__name__)

REPEAT_AFTER = timedelta(seconds=10)
MOST_AT_ONCE = 20


def freeze_start(request: StartRequest, *, idempotency_key: str = "", asked: str = "") -> None:
    """Promise this run, inside the ``writer()`` of what it is promised with; a repeat of the key gets its ID."""
    now, key_hash = timezone.now(), hash_text(idempotency_key) if idempotency_key else ""
    with writer():
        FrozenStart.objects.get_or_create(
            workflow_id=request.workflow_id,
            defaults={
                "workflow_type": request.workflow_type,
                "argument": asdict(request.argument),
                "summary": request.summary,
                "receipt_hash": key_hash,
                "created_at": now,
            },
        )
        if key_hash:
            StartReceipt.objects.get_or_create(
                key_hash=key_hash,
                defaults={
                    "workflow_id": request.workflow_id,
                    "run_id": "",
                    "asked_hash": hash_text(asked),
                    "created_at": now,
                },
            )


def make_start(workflow_id: str) -> Started:
    """Start what was frozen under this ID. Without a run ID where Temporal did not accept it now: it is repeated."""
    pending = Started(workflow_id, "", existing=False)
    frozen = FrozenStart.objects.filter(pk=workflow_id).first()
    if frozen is None:  # a heartbeat was quicker
        return pending
    try:
        return _start(frozen)
    except Exception as error:
        log.warning("the start of %s is repeated: %s", workflow_id, type(error).__name__)
        return pending


def repeat_starts() -> int:
    """Starts that were lost on their way; returns the number that Temporal accepted now."""
    accepted = 0
    rows = FrozenStart.objects.filter(created_at__lt=timezone.now() - REPEAT_AFTER)
    for frozen in rows.order_by("tries", "created_at")[:MOST_AT_ONCE]:
        with writer():
            FrozenStart.objects.filter(pk=frozen.pk).update(tries=F("tries") + 1)
        try:
            _start(frozen)
        except WorkerUnavailable:
            break
        except Exception as error:
            log.error("the start of %s failed with %s; trying again", frozen.workflow_id, type(error).__name__)
            continue
        accepted += 1
    return accepted


def _start(frozen: FrozenStart) -> Started:
    request = StartRequest(frozen.workflow_type, frozen.workflow_id, frozen.argument, frozen.summary, once=True)
    started = start_workflows([request])[0]
    with writer():
        FrozenStart.objects.filter(pk=frozen.pk).delete()
        if frozen.receipt_hash:
            StartReceipt.objects.filter(key_hash=frozen.receipt_hash, run_id="").update(run_id=started.run_id)
    return started
