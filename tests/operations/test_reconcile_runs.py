"""What our records make of Temporal's answers about open runs and about ends that were only assumed."""

from collections.abc import Callable

import pytest

from operations.contracts import RunStatus, WorkflowOutcome, WorkflowStart
from operations.models import JobEventRow, WorkflowRunProjection
from operations.queries import OpenRun
from operations.services import reconciliation
from operations.services.reconciliation import Description, Found, Plan, plan_run, reconcile_every_run, reconcile_runs
from operations.services.runs import record_outcome, record_started

pytestmark = pytest.mark.django_db

OPEN = OpenRun("r", "w", "DiscoverWorkflow", provisional=False, episode=0)
ASSUMED = OpenRun("r", "w", "DiscoverWorkflow", provisional=True, episode=1)


class Temporal:
    """Answers as scripted, and remembers which exact runs it was asked about."""

    def __init__(self) -> None:
        self.answers: dict[str, Description] = {}
        self.asked: list[tuple[str, str]] = []


@pytest.fixture
def temporal(monkeypatch: pytest.MonkeyPatch) -> Temporal:
    found = Temporal()

    def call(work: Callable[[object], object]) -> list[Description]:
        runs = work(None)
        assert isinstance(runs, list)
        return [found.answers.get(run.run_id, Description(Found.NOT_FOUND)) for run in runs]

    def describe(_client: object, runs: list[OpenRun]) -> list[OpenRun]:
        found.asked += [(run.workflow_id, run.run_id) for run in runs]
        return runs

    monkeypatch.setattr(reconciliation, "call_temporal", call)
    monkeypatch.setattr(reconciliation, "describe_runs", describe)
    return found


def start(run_id: str, *, workflow_id: str = "discover-local") -> None:
    record_started(WorkflowStart(workflow_id, run_id, "DiscoverWorkflow", {}))


def read_run(run_id: str) -> WorkflowRunProjection:
    return WorkflowRunProjection.objects.get(run_id=run_id)


@pytest.mark.parametrize(
    ("run", "found", "plan"),
    [
        (OPEN, Description(Found.RUNNING), Plan()),
        (OPEN, Description(Found.UNKNOWN), Plan()),
        (OPEN, Description(Found.NOT_FOUND), Plan(assume_end=True)),
        (OPEN, Description(Found.CLOSED, RunStatus.FAILED), Plan(end_as=RunStatus.FAILED)),
        (ASSUMED, Description(Found.NOT_FOUND), Plan()),
        (ASSUMED, Description(Found.UNKNOWN), Plan()),
        (ASSUMED, Description(Found.RUNNING), Plan(undo_end=True)),
        (ASSUMED, Description(Found.CLOSED, RunStatus.SUCCEEDED), Plan(undo_end=True, end_as=RunStatus.SUCCEEDED)),
    ],
)
def test_it_concludes_only_what_temporal_said(run: OpenRun, found: Description, plan: Plan) -> None:
    assert plan_run(run, found) == plan


def test_it_ends_what_failed_assumes_what_is_missing_and_leaves_what_runs(
    temporal: Temporal, assert_rebuild_matches: Callable[[], None]
) -> None:
    for run_id in ("failed", "missing", "running"):
        start(run_id, workflow_id=f"w-{run_id}")
    temporal.answers = {
        "failed": Description(Found.CLOSED, RunStatus.FAILED, "source_unavailable"),
        "running": Description(Found.RUNNING),
    }

    assert reconcile_runs() == 2

    assert (read_run("failed").status, read_run("failed").error_code) == ("failed", "source_unavailable")
    missing = read_run("missing")
    assert (missing.status, missing.reason_code, missing.provisional) == ("terminated", "reconciled_not_found", True)
    assert read_run("running").status == "in_progress"
    assert_rebuild_matches()


def test_it_asks_again_about_an_assumed_end_and_adds_nothing_while_it_stays_missing(
    temporal: Temporal, assert_rebuild_matches: Callable[[], None]
) -> None:
    start("r-1")
    assert reconcile_runs() == 1
    head = JobEventRow.objects.count()

    assert reconcile_runs() == 0

    assert JobEventRow.objects.count() == head
    assert temporal.asked == [("discover-local", "r-1")] * 2
    assert_rebuild_matches()


def test_it_opens_again_a_run_that_reappears_and_keeps_the_false_end_in_the_log(
    temporal: Temporal, assert_rebuild_matches: Callable[[], None]
) -> None:
    start("r-1")
    reconcile_runs()
    temporal.answers["r-1"] = Description(Found.RUNNING)

    assert reconcile_runs() == 1

    run = read_run("r-1")
    assert (run.status, run.provisional, run.reason_code, run.ended_at) == ("in_progress", False, "", None)
    types = list(JobEventRow.objects.order_by("id").values_list("event_type", flat=True))
    assert types == ["WorkflowStarted", "WorkflowTerminated", "WorkflowStarted"]
    assert_rebuild_matches()


def test_it_gives_a_reappearing_run_its_real_end(
    temporal: Temporal, assert_rebuild_matches: Callable[[], None]
) -> None:
    start("r-1")
    reconcile_runs()
    temporal.answers["r-1"] = Description(Found.CLOSED, RunStatus.SUCCEEDED)

    assert reconcile_runs() == 1
    assert reconcile_runs() == 0

    run = read_run("r-1")
    assert (run.status, run.provisional) == ("succeeded", False)
    assert_rebuild_matches()


def test_a_run_that_ends_before_it_is_asked_about_again_is_first_marked_as_found(
    temporal: Temporal, assert_rebuild_matches: Callable[[], None]
) -> None:
    start("r-1")
    reconcile_runs()

    for _ in range(2):
        record_outcome(WorkflowOutcome("discover-local", "r-1", "DiscoverWorkflow", RunStatus.SUCCEEDED))

    assert (read_run("r-1").status, read_run("r-1").provisional) == ("succeeded", False)
    types = list(JobEventRow.objects.order_by("id").values_list("event_type", flat=True))
    assert types == ["WorkflowStarted", "WorkflowTerminated", "WorkflowStarted", "WorkflowCompleted"]
    assert_rebuild_matches()


def test_it_survives_a_history_that_comes_and_goes(
    temporal: Temporal, assert_rebuild_matches: Callable[[], None]
) -> None:
    start("r-1")
    for _ in range(3):
        temporal.answers.clear()
        assert reconcile_runs() == 1
        assert read_run("r-1").provisional
        temporal.answers["r-1"] = Description(Found.RUNNING)
        assert reconcile_runs() == 1
        assert read_run("r-1").status == "in_progress"
    assert_rebuild_matches()


def test_it_never_takes_a_later_run_for_the_one_it_asks_about(
    temporal: Temporal, assert_rebuild_matches: Callable[[], None]
) -> None:
    start("r-1")
    start("r-2")
    temporal.answers["r-2"] = Description(Found.RUNNING)

    reconcile_runs()

    assert read_run("r-1").provisional
    assert read_run("r-2").status == "in_progress"
    assert_rebuild_matches()


def test_it_leaves_a_recorded_end_alone(temporal: Temporal, assert_rebuild_matches: Callable[[], None]) -> None:
    start("r-1")
    record_outcome(WorkflowOutcome("discover-local", "r-1", "DiscoverWorkflow", RunStatus.CANCELED))

    assert reconcile_runs() == 0
    assert temporal.asked == []
    assert_rebuild_matches()


def test_each_heartbeat_asks_about_other_runs_where_there_are_many(
    temporal: Temporal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for run_id in ("lost-1", "lost-2", "lost-3"):
        start(run_id)
    reconcile_runs()
    for run_id in ("open-1", "open-2", "open-3"):
        start(run_id)
    temporal.answers = {f"open-{number}": Description(Found.RUNNING) for number in (1, 2, 3)}
    monkeypatch.setattr(reconciliation, "MOST_RUNS", 2)
    monkeypatch.setattr(reconciliation, "MOST_ASSUMED", 1)
    asked: list[list[str]] = []
    for _ in range(3):
        temporal.asked.clear()
        reconcile_runs()
        asked.append([run_id for _, run_id in temporal.asked])

    assert [len(run_ids) for run_ids in asked] == [3, 3, 3], "two open ones and one assumed end"
    assert {run_id for run_ids in asked for run_id in run_ids} == {
        f"{kind}-{number}" for kind in ("open", "lost") for number in (1, 2, 3)
    }


def test_the_first_pass_of_a_process_asks_about_every_one(
    temporal: Temporal, monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Callable[[], None]
) -> None:
    for number in range(5):
        start(f"r-{number}")
    monkeypatch.setattr(reconciliation, "MOST_RUNS", 2)

    assert reconcile_every_run() == 5

    temporal.answers = {f"r-{number}": Description(Found.CLOSED, RunStatus.SUCCEEDED) for number in range(5)}
    assert reconcile_every_run() == 5
    assert {read_run(f"r-{number}").status for number in range(5)} == {"succeeded"}
    assert_rebuild_matches()
