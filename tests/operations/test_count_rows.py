"""The counters of stage rows: kept as rows move, and equal to counting them at any time."""

from collections import Counter
from typing import Any

import pytest
from django.db.models import Count

from operations.contracts import StageName, StageState
from operations.database import writer
from operations.models import JobStageState
from operations.services.stages import mark_stale, reset_stages
from operations.stage_engine import Hold, Refusal, Settlement, publish_stage, settle_canceled, settle_failure
from operations.stage_engine.counters import read_counters
from operations.stage_engine.rows import skip_row
from tests.operations.cast import Cast, ScriptedStage, claim, get_row, refuse

ENRICH, SCORE = StageName.ENRICH, StageName.SCORE


def count_rows() -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for row in JobStageState.objects.values("stage", "state").annotate(n=Count("id")).order_by():
        found.setdefault(row["stage"], {})[row["state"]] = row["n"]
    return found


def test_it_counts_every_way_that_a_row_moves(cast: Cast, stages: dict[StageName, ScriptedStage]) -> None:
    assert read_counters() == count_rows() == {stage: {"pending": 4} for stage in count_rows()}

    publish_stage(claim(cast.backend, ENRICH), "result")
    settle_failure(claim(cast.data, ENRICH), code="NO_CONTENT", message="", retryable=False)
    settle_canceled(claim(cast.sales, ENRICH))
    stages[ENRICH].refusal = Refusal(StageState.BLOCKED, "POSTING_CLOSED", settle_as=StageState.BLOCKED)
    refuse(cast.office, ENRICH)
    assert read_counters() == count_rows()
    assert Counter(read_counters()["enrich"]) == Counter(succeeded=1, failed=1, canceled=1, blocked=1)

    stages[SCORE].settlement = Settlement(hold=Hold("MIN_SCORE", applies=True))
    publish_stage(claim(cast.backend, SCORE), "result")
    mark_stale(ENRICH, [cast.backend], reason_code="POSTING_CHANGED")
    reset_stages(ENRICH, [cast.data])
    assert read_counters() == count_rows()


def test_it_counts_a_row_that_was_made_and_refused_without_an_event(
    cast: Cast, stages: dict[StageName, ScriptedStage]
) -> None:
    refuse(cast.backend, StageName.PDF)

    assert read_counters() == count_rows()
    assert read_counters()["pdf"] == {"pending": 1}


def test_it_forgets_what_was_undone(cast: Cast, stages: dict[StageName, ScriptedStage]) -> None:
    def skip_and_fail(write: Any) -> None:
        with write.savepoint():
            skip_row(get_row(cast.data, ENRICH), reason_code="MIN_SCORE")
            raise LookupError

    with writer() as write:
        skip_row(get_row(cast.backend, ENRICH), reason_code="MIN_SCORE")
        with pytest.raises(LookupError):
            skip_and_fail(write)
    assert read_counters() == count_rows()
    assert read_counters()["enrich"] == {"pending": 3, "skipped": 1}
