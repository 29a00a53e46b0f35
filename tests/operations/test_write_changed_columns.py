"""A fold writes of a row that was there what changed, and leaves it as a rebuild would."""

import json
from collections.abc import Callable

from django.db import connection
from django.test.utils import CaptureQueriesContext

from discovery.events import JobHidden, JobSourceObserved, JobUnhidden
from operations.database import writer
from operations.eventlog import Event, append
from operations.events import StageStarted
from operations.models import JobListProjection
from tests.operations.cast import Cast

TABLE = "job_list_projections"
COLUMNS = [field.column for field in JobListProjection._meta.concrete_fields]


def list_written(*events: Event) -> list[set[str]]:
    """The columns that each statement about the job list writes; of its JSON none that no event touches."""
    with CaptureQueriesContext(connection) as queries, writer():
        for event in events:
            append(event)
    statements = [
        query["sql"] for query in queries if f"INTO {TABLE}" in query["sql"] or f"UPDATE {TABLE}" in query["sql"]
    ]
    written = [statement.partition(" SET ")[2].partition(" WHERE ")[0] for statement in statements]
    return [{name for name in COLUMNS if f"{name} = " in part} for part in written]


def test_it_writes_no_column_that_stayed_the_same(cast: Cast, assert_rebuild_matches: Callable[[], None]) -> None:
    assert list_written(JobHidden(job_id=cast.backend)) == [{"hidden", "updated_at"}]
    assert_rebuild_matches()


def test_it_writes_rows_that_changed_differently(cast: Cast, assert_rebuild_matches: Callable[[], None]) -> None:
    hidden = [JobHidden(job_id=cast.backend), JobHidden(job_id=cast.data)]
    back_again = [JobHidden(job_id=cast.sales), JobUnhidden(job_id=cast.sales)]
    counted = JobSourceObserved(job_id=cast.office, source_id="s", sightings=7)
    found = list_written(*hidden, *back_again, counted)
    assert sorted(found, key=sorted) == [{"hidden", "updated_at"}, {"source_count"}, {"updated_at"}]
    assert_rebuild_matches()


def test_it_mends_a_document_that_it_touches_and_that_another_writer_spelled_differently(
    cast: Cast, assert_rebuild_matches: Callable[[], None]
) -> None:
    stages = JobListProjection.objects.get(job_id=cast.backend).stages_json
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {TABLE} SET stages_json = %s WHERE title = 'Backend Engineer'",
            [json.dumps(dict(reversed(stages.items())), indent=2)],
        )
    with writer():
        append(StageStarted(job_id=cast.backend, stage="score", attempt=1, workflow_id="w", run_id="r"))
    assert_rebuild_matches()
