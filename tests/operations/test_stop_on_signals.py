"""A request to stop that Python loses on its way is taken up by whoever waits next."""

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from operations.processes.interrupts import stop_on_signals, wait_for

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in NUMBERS}
    stop_on_signals()
    yield
    stop_on_signals()  # forgets what was asked for: nothing of it is for a later test
    for number, handler in before.items():
        signal.signal(number, handler)


class Loses:
    """Its finalizer is where the signal arrives; Python prints the interrupt there and goes on."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):
            pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_it_takes_up_a_request_that_a_finalizer_swallowed() -> None:
    del (item := [Loses()])[0]
    assert item == []

    with pytest.raises(KeyboardInterrupt):
        wait_for(threading.Event())


def test_it_stops_at_once_where_nothing_swallows_it() -> None:
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()

    with pytest.raises(KeyboardInterrupt):
        wait_for(threading.Event())


def test_it_leaves_an_ignored_hangup_ignored() -> None:
    """As under ``nohup``."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    stop_on_signals()
    os.kill(os.getpid(), signal.SIGHUP)
    done = threading.Event()
    done.set()
    wait_for(done)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_it_takes_a_request_up_once() -> None:
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGTERM)
        wait_for(threading.Event())
    stop_on_signals()
    done = threading.Event()
    done.set()
    wait_for(done)
