"""``manage.py run_stage --wait``: its exit code is what became of the work."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from jobctrl.following import RunEnd
from jobctrl.management.commands import run_stage
from operations.models import WorkflowRunProjection
from operations.queries import count_failed_runs
from operations.services.starts import Started

RUN = Started("discover-local", "run-1", existing=False)


def wait_for(monkeypatch: pytest.MonkeyPatch, **end: Any) -> int:
    """The exit code of a discovery that was followed to this end."""
    ended = RunEnd(**{"status": "succeeded", "error_code": "", "result": {}, **end})
    monkeypatch.setattr(run_stage, "start_stage", lambda order: RUN)
    monkeypatch.setattr(run_stage, "follow_discovery", lambda ref, **settings: ended)
    try:
        call_command("run_stage", "discover", "--wait")
    except SystemExit as left:
        return int(str(left.code))
    return 0


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ({}, 0),
        ({"result": {"enriched": "3", "enrichFailed": "0"}}, 0),
        ({"status": "failed", "error_code": "source_unavailable"}, 1),
        ({"result": {"enriched": "2", "enrichFailed": "1"}}, 1),
        ({"failed": 1}, 1),
        ({"unfinished": 1}, 1),
    ],
)
def test_it_exits_with_what_became_of_the_work(
    end: dict[str, Any], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wait_for(monkeypatch, **end) == code
    said = capsys.readouterr().out
    assert ("Preparations: " in said) is bool({"failed", "unfinished"} & end.keys())


@pytest.mark.parametrize(
    ("option", "value", "refusal"),
    [
        ("--limit", "-1", "--limit: it must be from 0"),
        ("--limit", "100001", "--limit: it must be from 0 .no limit. to 100000"),
        ("--timeout", "-1", "--timeout: it must be a number of seconds above 0"),
        ("--timeout", "nan", "--timeout: it must be a number of seconds above 0"),
    ],
)
def test_it_refuses_a_number_out_of_range(db: None, option: str, value: str, refusal: str) -> None:
    with pytest.raises(CommandError, match=refusal):
        call_command("run_stage", "score", option, value)


def test_it_refuses_a_limit_for_a_discovery() -> None:
    with pytest.raises(CommandError, match="--limit: a discovery run has none"):
        call_command("run_stage", "discover", "--limit", "3")


def test_a_workflows_newest_run_counts(db: None) -> None:
    now = timezone.now()
    for number, (workflow_id, status) in enumerate(
        [
            ("prep-a", "failed"),
            ("prep-a", "succeeded"),
            ("prep-b", "failed"),
            ("prep-c", "in_progress"),
            ("prep-d", "canceled"),
        ]
    ):
        WorkflowRunProjection.objects.create(
            run_id=f"r{number}", workflow_id=workflow_id, workflow_type="JobPreparationWorkflow", status=status,
            first_seen_at=now.replace(microsecond=number),
        )  # fmt: skip
    assert count_failed_runs(["prep-a", "prep-b", "prep-c", "prep-d", "prep-e"]) == 2
