"""The 15-second loop: say that this worker lives, then look for what should not be so."""

import logging
import os
import threading
from collections.abc import Callable
from datetime import datetime
from uuid import uuid4

from django.db import close_old_connections, connection
from django.utils import timezone

from operations.contracts import HEARTBEAT_SECONDS
from operations.database import writer
from operations.models import WorkerRuntimeHeartbeat, Workspace
from operations.queries import build_worker_prefix
from operations.reconciling import run_reconcilers
from operations.worker.interceptor import SlotCounter

log = logging.getLogger(__name__)


class WorkerHeartbeat:
    """Writes one runtime row. A tick that fails is tried again with the same id, start time and slots.

    What the heartbeat looks for runs beside it: a slow answer of Temporal's must not make a living
    worker look dead.
    """

    def __init__(self, workspace: Workspace, slots: SlotCounter, *, total_slots: int) -> None:
        self.worker_id = f"{build_worker_prefix(os.getpid())}{uuid4().hex[:8]}"
        self.workspace = workspace
        self.slots = slots
        self.total_slots = total_slots
        self.started_at: datetime = timezone.now()
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._repeat, args=(work,), name=name, daemon=True)
            for name, work in (
                ("worker-heartbeat", self.beat),
                ("worker-reconcilers", lambda: run_reconcilers(startup=False)),
            )
        ]

    def beat(self, *, stopped: bool = False) -> None:
        now = timezone.now()
        with writer():
            WorkerRuntimeHeartbeat.objects.update_or_create(
                worker_id=self.worker_id,
                defaults={
                    "workspace_identity": self.workspace.identity,
                    "task_queue": self.workspace.task_queue,
                    "process_id": os.getpid(),
                    "slots": self.total_slots,
                    "slots_busy": self.slots.busy,
                    "started_at": self.started_at,
                    "last_seen_at": now,
                    "stopped_at": now if stopped else None,
                },
            )

    def start(self) -> None:
        self.beat()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Say that the worker is gone, so that nobody waits 45 seconds to learn it."""
        self._stop.set()
        for thread in self._threads:
            thread.join(timeout=5)
        self._guarded(lambda: self.beat(stopped=True))

    def _repeat(self, work: Callable[[], object]) -> None:
        while not self._stop.wait(HEARTBEAT_SECONDS):
            close_old_connections()
            self._guarded(work)
        connection.close()

    def _guarded(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception as error:
            log.error("heartbeat of %s failed with %s; trying again", self.worker_id, type(error).__name__)
