"""Looks once a second whether a backup asks this worker to pause."""

import asyncio
import logging
import threading

from django.db import close_old_connections, connection
from django.utils import timezone

from operations.services.draining import confirm_drained, find_drain

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0


class DrainWatch:
    """``asked`` and ``released`` are events of the loop, one of them always set. Confirms a drain while ``is_idle``."""

    def __init__(self, worker_id: str, loop: asyncio.AbstractEventLoop) -> None:
        self.worker_id = worker_id
        self.asked = asyncio.Event()
        self.released = asyncio.Event()
        self.is_idle = False
        self._loop = loop
        self._confirmed = ""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._repeat, name="worker-drain", daemon=True)

    async def start(self) -> None:
        """Returns after the first look: a worker that starts during a backup takes nothing."""
        self._mark(await asyncio.to_thread(self._find_first))
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(timeout=5)

    def _find_first(self) -> str:
        try:
            return find_drain(now=timezone.now())
        finally:
            connection.close()

    def _mark(self, token: str) -> None:
        for event, is_set in ((self.asked, bool(token)), (self.released, not token)):
            if is_set:
                event.set()
            else:
                event.clear()

    def _repeat(self) -> None:
        while not self._stop.wait(LOOK_SECONDS):
            close_old_connections()
            try:
                self._look()
            except Exception as error:
                log.error("looking for a drain failed with %s; trying again", type(error).__name__)
        connection.close()

    def _look(self) -> None:
        token = find_drain(now=timezone.now())
        self._loop.call_soon_threadsafe(self._mark, token)
        if token and self.is_idle and token != self._confirmed:
            confirm_drained(token, worker_id=self.worker_id)
            self._confirmed = token
