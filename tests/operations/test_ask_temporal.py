"""Whether Temporal answers, as pages may know it: without ever waiting for it."""

import logging
import sys
import threading
import types
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client, RequestFactory
from django.utils import timezone

from operations import temporal_probe as module
from operations.access.accounts import ensure_operator
from operations.context import Shell, describe_temporal
from operations.log_lines import AddIds
from operations.models import StageCounter, WorkflowRunProjection
from operations.temporal_probe import TemporalAnswer, TemporalProbe, TemporalState, temporal_probe
from tests.processes import wait_until

REACHABLE, UNREACHABLE, UNKNOWN = TemporalState.REACHABLE, TemporalState.UNREACHABLE, TemporalState.UNKNOWN
SINCE = timezone.now() - timedelta(minutes=5)
LOST = TemporalAnswer(UNREACHABLE, SINCE)


class Server:
    """What stands in for Temporal; it answers once it may."""

    def __init__(self) -> None:
        self.state, self.asked, self.may_answer = REACHABLE, 0, threading.Event()

    def ask(self, seconds: float) -> TemporalState:
        self.asked += 1
        assert self.may_answer.wait(10)
        return self.state


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    monkeypatch.setattr(module, "ask_temporal", server.ask)
    monkeypatch.setattr(module, "_has_address", lambda: True)
    return server


@pytest.fixture
def pass_time(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    now = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])

    def wait(seconds: float) -> None:
        now[0] += seconds

    return wait


def await_state(probe: TemporalProbe, state: TemporalState) -> None:
    wait_until(lambda: probe.peek().state is state, what=f"that it is {state}", seconds=10)


def test_it_answers_at_once_while_the_question_is_out(server: Server) -> None:
    probe = TemporalProbe()

    assert probe.peek() == TemporalAnswer(UNKNOWN)
    assert probe.peek() == TemporalAnswer(UNKNOWN)

    server.may_answer.set()
    await_state(probe, REACHABLE)
    assert server.asked == 1


def test_it_remembers_when_it_last_answered(server: Server, pass_time: Callable[[float], None]) -> None:
    probe = TemporalProbe()
    server.may_answer.set()
    probe.peek()
    await_state(probe, REACHABLE)
    answered_by = timezone.now()

    server.state = UNREACHABLE
    pass_time(6)
    await_state(probe, UNREACHABLE)

    lost_since = probe.peek().lost_since
    assert lost_since is not None and lost_since <= answered_by
    server.state = REACHABLE
    pass_time(6)
    await_state(probe, REACHABLE)
    assert probe.peek().lost_since is None


def test_it_trusts_no_old_answer(server: Server, pass_time: Callable[[float], None]) -> None:
    probe = TemporalProbe()
    server.may_answer.set()
    probe.peek()
    await_state(probe, REACHABLE)

    server.may_answer.clear()
    pass_time(3600)

    assert probe.peek().state is UNKNOWN
    server.may_answer.set()


def test_it_asks_nobody_where_temporal_was_never_started(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_has_address", lambda: False)

    assert TemporalProbe().peek() == TemporalAnswer(UNKNOWN, has_address=False)
    assert server.asked == 0


def test_it_says_nothing_while_all_is_well_and_unknown_where_it_is() -> None:
    assert describe_temporal(TemporalAnswer(REACHABLE)) == []
    assert [fact.tone for fact in describe_temporal(TemporalAnswer(UNKNOWN))] == ["unknown"]
    (lost,) = describe_temporal(LOST)
    assert (lost.text, lost.tone) == ("Temporal does not answer", "person")


@pytest.fixture
def operator(db: None) -> Client:
    client = Client()
    client.force_login(ensure_operator())
    return client


@pytest.fixture
def open_run(db: None) -> WorkflowRunProjection:
    StageCounter.objects.create(stage="enrich", state="pending", rows=1)
    return WorkflowRunProjection.objects.create(
        run_id="r-1",
        workflow_id="discover-local",
        workflow_type="DiscoverWorkflow",
        status="in_progress",
        first_seen_at=SINCE,
        started_at=SINCE,
    )


@pytest.mark.parametrize("path", ["/", "/runs/", "/runs/r-1/"])
def test_no_page_says_that_a_run_goes_on_while_temporal_is_gone(
    path: str, operator: Client, open_run: WorkflowRunProjection, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 'chip running">Running<' in operator.get(path).content.decode()

    monkeypatch.setattr(temporal_probe, "peek", lambda: LOST)
    page = operator.get(path).content.decode()

    assert 'chip running">Running' not in page and "at work" not in page
    assert "Not checked" in page
    assert "could not be checked since" in page and f'datetime="{SINCE:%Y-%m-%dT%H:%M:%SZ}"' in page
    assert "manage.py up" in page


def test_the_topbar_asks_again_soon_while_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = Shell(RequestFactory().get("/"))
    monkeypatch.setattr(temporal_probe, "peek", lambda: TemporalAnswer(UNKNOWN))

    assert shell.refresh_seconds < 5


def test_it_logs_while_another_thread_reads_temporals_package_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it is read in to its end, the module is there but empty."""
    for name in ("temporalio.activity", "temporalio.workflow"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    record = logging.LogRecord("operations", logging.INFO, __file__, 1, "said", None, None)

    assert AddIds().filter(record)
