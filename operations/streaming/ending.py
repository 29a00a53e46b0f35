"""The end of a web process: what its event loop still holds is ended while Python is whole."""

import asyncio
import atexit
from typing import Any

SECONDS = 2.0


def end_tasks_at_exit() -> None:
    """Once a process. A task that is left waiting makes CPython 3.11 die of SIGSEGV when the interpreter is taken down,
    since its queue is then closed by modules that are gone."""
    atexit.register(_end_tasks)


def _end_tasks() -> None:
    from twisted.internet import reactor

    served: Any = reactor
    loop = getattr(served, "_asyncioEventloop", None)
    if loop is None or loop.is_closed() or loop.is_running():
        return
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=SECONDS))
