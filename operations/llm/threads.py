"""The ORM from inside an event loop: in a thread of its own, whose connection is closed with it."""

import asyncio
import contextvars
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import connection

from operations.database import OUTAGES

T = TypeVar("T")

PAUSES = (0.2, 1.0, 3.0)  # seconds before a write is tried again; SQLite has waited for its turn by itself each time


async def in_thread(work: Callable[[], T]) -> T:
    """Run ``work`` to its end even where the waiting task is canceled: what was used is written down come what may."""
    context = contextvars.copy_context()

    def run() -> T:
        try:
            return context.run(work)
        finally:
            if not connection.in_atomic_block:
                connection.close()

    return await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, run))


def write_patiently(write: Callable[[], T]) -> T:
    """A write that may be repeated and must not be lost: where the database is busy or the connection broke it is tried
    again, on a new one, after each of ``PAUSES``. What the last try raises is raised."""
    for pause in PAUSES:
        try:
            return write()
        except OUTAGES:
            if not connection.in_atomic_block:
                connection.close()
            time.sleep(pause)
    return write()
