"""The ORM from inside an event loop: in a thread of its own, whose connection is closed with it."""

import asyncio
import contextvars
from collections.abc import Callable
from typing import TypeVar

from django.db import connection

T = TypeVar("T")


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
