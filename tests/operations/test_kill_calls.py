"""SIGKILL around a provider's answer: what left is always on record, and nothing is ever counted twice."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from operations.llm.ledger import compare_day
from operations.models import JobEventRow, LlmAttempt, LlmSpend
from operations.processes.children import build_tied_argv
from tests.modelserver import Asked, ModelServer
from tests.modelwires import Answer, Tokens
from tests.operations.asking import KEY, assert_quotes_nothing
from tests.operations.databases import SharedDatabase
from tests.processes import wait_until
from tests.run import ROOT

KILLS = 30
GOOD = Answer({"score": 7}, tokens=Tokens(100, 20))


class AskingProcess:
    """``tests.operations.asking_child``; ``ask`` returns whether its child was killed."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.child = 0
        self._process = subprocess.Popen(
            build_tied_argv([sys.executable, "-m", "tests.operations.asking_child"]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            env=environment,
        )

    def ask(self, provider: str) -> bool:
        assert self._process.stdin is not None and self._process.stdout is not None
        self.child = 0
        self._process.stdin.write(provider + "\n")
        self._process.stdin.flush()
        self.child = int(self._process.stdout.readline())
        ended = self._process.stdout.readline().strip()
        assert ended, "the asking process has ended"
        return ended == "killed"

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)


@pytest.fixture
def asking(shared: SharedDatabase, models: ModelServer) -> Iterator[AskingProcess]:
    process = AskingProcess({**os.environ, **models.base_urls, **read_place(shared), "OPENAI_API_KEY": KEY})
    yield process
    process.stop()


def read_place(shared: SharedDatabase) -> dict[str, str]:
    """The test's own database for another process."""
    if shared.file is not None:
        return {"DATABASE_URL": f"sqlite:///{shared.file}"}
    given: dict[str, Any] = connection.settings_dict
    host = str(given["HOST"]).replace("/", "%2F")
    return {"DATABASE_URL": f"postgres://{given['USER']}:{given['PASSWORD']}@{host}:{given['PORT']}/{given['NAME']}"}


def test_a_kill_around_an_answer_loses_no_attempt_and_counts_none_twice(
    asking: AskingProcess, models: ModelServer
) -> None:
    random = Random(20260703)
    models.usual = GOOD
    assert not asking.ask("openai")

    def kill_soon(_: Asked) -> None:
        wait_until(lambda: asking.child > 0, what="the child is known")
        threading.Timer(0.04 * random.random() ** 2, kill, (asking.child,)).start()

    models.before = kill_soon
    killed = sum(asking.ask("openai") for _ in range(KILLS))

    states = list(LlmAttempt.objects.values_list("state", flat=True))
    counted, left_open = states.count("counted"), states.count("open")
    assert killed >= KILLS // 3
    assert len(states) == counted + left_open == len(models.requests) == KILLS + 1
    assert 0 < left_open <= killed
    (row,) = LlmSpend.objects.all()
    assert (row.input_tokens, row.output_tokens) == (100 * counted, 20 * counted)
    assert JobEventRow.objects.filter(event_type="LlmUsageObserved").count() == counted
    assert all(check.is_even for check in compare_day(timezone.now()))
    assert_quotes_nothing(str(list(LlmAttempt.objects.values())) + str(list(JobEventRow.objects.values())))


def test_a_kill_before_the_request_leaves_an_open_attempt(asking: AskingProcess, models: ModelServer) -> None:
    """Attempts may be more than what the provider saw, never fewer."""
    random = Random(7)
    models.usual = GOOD
    assert not asking.ask("openai")
    for _ in range(6):
        killer = threading.Timer(random.uniform(0.0, 0.25), lambda: kill(asking.child))
        killer.start()
        asking.ask("openai")
        killer.join()
    counted = LlmAttempt.objects.filter(state="counted").count()
    assert counted <= len(models.requests) <= LlmAttempt.objects.count()
    assert LlmAttempt.objects.exclude(state__in=("open", "counted")).count() == 0


def kill(pid: int) -> None:
    if pid:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
