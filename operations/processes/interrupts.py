"""Ctrl-C and SIGTERM that cannot get lost.

Python raises KeyboardInterrupt wherever the main thread happens to be, and ignores it where that is a
finalizer or a callback. So the request is remembered as well, for whoever waits next.
"""

import signal
import threading
from types import FrameType

LOOK_SECONDS = 0.5

_asked = threading.Event()


def stop_on_signals() -> None:
    """Raise KeyboardInterrupt on SIGINT, SIGTERM and SIGHUP, and remember it until somebody has taken it up.

    A SIGHUP that is ignored already stays so: that is what ``nohup`` is for.
    """
    _asked.clear()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
            continue
        signal.signal(number, _remember_and_raise)


def wait_for(event: threading.Event) -> None:
    """Wait in the main thread; raises KeyboardInterrupt for a request that was lost on its way, too."""
    while not event.wait(LOOK_SECONDS):
        raise_if_asked()


def raise_if_asked() -> None:
    if _asked.is_set() and threading.current_thread() is threading.main_thread():
        _asked.clear()
        raise KeyboardInterrupt


def _remember_and_raise(_number: int, _frame: FrameType | None) -> None:
    _asked.set()
    raise KeyboardInterrupt
