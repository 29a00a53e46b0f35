import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.core.management.base import CommandError

from operations.contracts import StageName, StageState
from operations.models import FrozenStart, JobEventRow
from operations.services import retrying
from operations.services.starts import Started
from tests.commands.calling import call
from tests.operations.cast import Cast, get_row, put_row, record_cast

pytestmark = pytest.mark.django_db

ENRICH = StageName.ENRICH


@pytest.fixture
def cast(db: None) -> Cast:
    return record_cast()


def test_it_resets_what_nobody_works_on_and_says_why_not_the_others(
    cast: Cast, assert_rebuild_matches: Callable[[], None]
) -> None:
    put_row(cast.backend, ENRICH, StageState.EXHAUSTED, attempts=5)
    put_row(cast.data, ENRICH, StageState.RUNNING, owner_run_id="r", owner_workflow_id="w")

    printed = call("reset_stage", "enrich", "--job", str(cast.backend), "--job", str(cast.data))

    assert (printed.code, printed.out) == (0, "enrich: 1 job reset.\n")
    assert f"{cast.data} is left as it was: work on it is still going on. Wait for it" in printed.err
    assert (get_row(cast.backend, ENRICH).state, get_row(cast.backend, ENRICH).attempts) == (StageState.PENDING, 0)
    event = JobEventRow.objects.get(event_type="StageReset")
    assert (event.payload["fromState"], event.payload["reasonCode"]) == ("exhausted", "operator")
    assert_rebuild_matches()


def test_it_fails_where_nothing_was_reset(cast: Cast) -> None:
    printed = call("reset_stage", "enrich", "--job", str(cast.backend), "--json")

    assert printed.code == 1
    assert json.loads(printed.out) == {"done": [], "refused": {str(cast.backend): "ALREADY_PENDING"}}
    assert "it waits already" in call("reset_stage", "enrich", "--job", str(cast.backend)).err


def test_it_names_a_job_that_is_not_here(cast: Cast) -> None:
    stranger = uuid4()
    with pytest.raises(CommandError, match=f"--job: there is no job {stranger}"):
        call("reset_stage", "enrich", "--job", str(stranger))


def test_it_changes_nothing_where_the_run_cannot_be_started(cast: Cast) -> None:
    put_row(cast.backend, ENRICH, StageState.FAILED)
    with pytest.raises(CommandError, match="Start everything with: manage"):
        call("reset_stage", "enrich", "--job", str(cast.backend), "--run")
    assert get_row(cast.backend, ENRICH).state == StageState.FAILED
    assert not FrozenStart.objects.exists()


def test_it_runs_what_it_reset(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    put_row(cast.backend, ENRICH, StageState.FAILED)
    monkeypatch.setattr(retrying, "check_worker_ready", lambda: None)
    monkeypatch.setattr(retrying, "make_start", lambda workflow_id: Started(workflow_id, "r-1", existing=False))

    printed: dict[str, Any] = json.loads(
        call("reset_stage", "enrich", "--job", str(cast.backend), "--run", "--json").out
    )

    assert (printed["done"], printed["runId"]) == ([str(cast.backend)], "r-1")
    frozen = FrozenStart.objects.get()
    assert (printed["workflowId"], frozen.argument["job_ids"]) == (frozen.workflow_id, [str(cast.backend)])
    assert JobEventRow.objects.get(event_type="StageReset").payload["reasonCode"] == "retry"
