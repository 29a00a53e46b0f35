"""The steps of a run as its page lists them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from operations.wording import Tone, describe_steps
from operations.wording.steps import StepRow


@dataclass
class Row:
    kind: str
    state: str
    item_key: str = ""
    attempt: int = 1
    error_code: str = ""
    counts_json: Mapping[str, Any] = field(default_factory=dict)
    finished_at: datetime | None = None


ROWS: list[StepRow] = [
    Row("pdf_render", "running"),
    Row("source_family", "queued", "bundled"),
    Row("source_family", "running", "ats"),
    Row("source_planning", "succeeded"),
]


def test_it_lists_them_in_the_order_of_the_work_and_names_the_boards() -> None:
    shown = [(step.label, step.detail, step.state.word) for step in describe_steps(ROWS)]

    assert shown == [
        ("Planning the sources", "", "Done"),
        ("Reading the boards", "sample boards", "Waits its turn"),
        ("Reading the boards", "employers' boards", "Running"),
        ("Printing documents", "", "Running"),
    ]


def test_nothing_waits_once_the_run_is_over_but_what_other_runs_do() -> None:
    words = [step.state.word for step in describe_steps(ROWS, is_over=True)]

    assert words == ["Done", "Not begun", "Stopped", "Running"]


def test_it_does_not_say_that_a_step_stopped_where_the_run_cannot_be_found() -> None:
    states = [step.state for step in describe_steps(ROWS, is_over=True, is_lost=True)]

    assert [state.word for state in states] == ["Done", "Not begun", "Unknown: its run cannot be found", "Running"]
    assert states[2].tone is Tone.UNKNOWN


def test_nothing_is_under_way_for_certain_while_temporal_cannot_be_asked() -> None:
    states = [step.state for step in describe_steps(ROWS, is_checked=False)]

    assert [state.word for state in states] == ["Done", "Waits its turn", "Not checked", "Not checked"]
    assert states[2].tone is Tone.UNKNOWN
