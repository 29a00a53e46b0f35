"""Statements that are made once give what the ORM gives for the same rows, each time they are run."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Count, F, IntegerField, QuerySet, TextField, UUIDField
from django.test.utils import CaptureQueriesContext

from operations.compiled import CompiledInsert, CompiledQuery
from operations.models import JobStageState, OperationalAttemptMetric, StoredSetting, Workspace

pytestmark = pytest.mark.django_db

MOMENT = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)


def store(job_id: UUID, stage: str, **values: object) -> JobStageState:
    given = {"tenant_id": "local", "updated_at": MOMENT, **values}
    return JobStageState.objects.create(job_id=job_id, stage=stage, **given)


def test_a_row_is_the_row_that_the_orm_reads() -> None:
    job_id = uuid4()
    kept = store(job_id, "score", retryable=False, started_at=MOMENT, error_message="čaj 茶 '%s'", attempts=3)
    store(uuid4(), "score")
    query = CompiledQuery(lambda job_id, stage: by_job(job_id).filter(stage=stage), UUIDField(), TextField())
    found = query.first(job_id, "score")
    expected = JobStageState.objects.get(pk=kept.pk)
    assert found == expected
    assert [getattr(found, f.attname) for f in JobStageState._meta.concrete_fields] == [
        getattr(expected, f.attname) for f in JobStageState._meta.concrete_fields
    ]
    assert found
    assert not found._state.adding
    assert query.first(job_id, "tailor") is None
    assert query.rows(uuid4(), "score") == []


def by_job(job_id: object) -> "QuerySet[JobStageState]":
    return JobStageState.objects.filter(job_id=job_id)


def test_tuples_and_single_values_are_converted_and_in_order() -> None:
    job_id = uuid4()
    for stage, attempts in (("score", 2), ("cover", 0), ("tailor", 1)):
        store(job_id, stage, attempts=attempts, started_at=MOMENT if attempts else None)
    tuples = CompiledQuery(
        lambda job_id, least: (
            by_job(job_id)
            .filter(attempts__gte=least)
            .order_by("-attempts")
            .values_list("job_id", "stage", "retryable", "started_at")
        ),
        UUIDField(),
        IntegerField(),
    )
    assert tuples.rows(job_id, 1) == [(job_id, "score", True, MOMENT), (job_id, "tailor", True, MOMENT)]
    assert tuples.rows(job_id, 0)[-1] == (job_id, "cover", True, None)
    flat = CompiledQuery(
        lambda job_id: by_job(job_id).order_by("attempts").values_list("stage", flat=True)[:1], UUIDField()
    )
    assert flat.first(job_id) == "cover"
    assert flat.first(uuid4()) is None


def test_json_and_deferred_columns_are_read_as_usual() -> None:
    StoredSetting.objects.create(key="provider", value={"score": "openai", "é": [1, None, True]})
    everything = CompiledQuery(lambda: StoredSetting.objects.values_list("key", "value"))
    assert everything.rows() == [("provider", {"score": "openai", "é": [1, None, True]})]
    deferred = CompiledQuery(lambda key: StoredSetting.objects.filter(key=key).defer("value"), TextField())
    found = deferred.first("provider")
    assert found
    assert found.get_deferred_fields() == {"value"}
    assert found.value == {"score": "openai", "é": [1, None, True]}


def test_its_statement_is_made_once_and_costs_one_query_each_time() -> None:
    made: list[object] = []

    def build(key: object) -> "QuerySet[StoredSetting]":
        made.append(key)
        return StoredSetting.objects.filter(key=key)

    query = CompiledQuery(build, TextField())
    with CaptureQueriesContext(connection) as asked:
        for key in ("a", "b", "'; DROP TABLE stored_settings; --"):
            assert query.rows(key) == []
    assert len(made) == 1
    assert len(asked) == 3


def test_it_refuses_what_it_would_read_wrongly() -> None:
    for build in (
        lambda: JobStageState.objects.annotate(n=F("attempts")),
        lambda: JobStageState.objects.values("stage"),
        lambda: JobStageState.objects.values("stage").annotate(n=Count("id")),
    ):
        with pytest.raises(TypeError, match="rows of one model, values_list and flat values_list"):
            CompiledQuery(build).rows()


def test_an_insert_stores_what_create_stores() -> None:
    values = {
        "tenant_id": "local",
        "stage": "score",
        "attempt_kind": "stage",
        "outcome": "succeeded",
        "counts": {"fitScore": 7},
        "job_id": uuid4(),
        "error_message": "100 % 'sure'",
        "recorded_at": MOMENT,
    }
    OperationalAttemptMetric.objects.create(**values)
    CompiledInsert(OperationalAttemptMetric).run(**values)
    first, second = OperationalAttemptMetric.objects.order_by("id").values()
    assert first.pop("id") != second.pop("id")
    assert first == second
    with pytest.raises(TypeError, match="colour"):
        CompiledInsert(OperationalAttemptMetric).run(colour="red")


def test_it_refuses_prefetched_rows_and_columns_that_only_order_what_is_distinct() -> None:
    for build in (
        lambda: JobStageState.objects.values_list("stage").distinct().order_by("updated_at"),
        lambda: JobStageState.objects.prefetch_related("events"),
    ):
        with pytest.raises(TypeError, match="only order what is distinct are read so, nor prefetched"):
            CompiledQuery(build).rows()


def test_a_refused_insert_dooms_its_transaction() -> None:
    insert = CompiledInsert(Workspace)
    insert.run(identity="w", task_queue="q", database="d", home="h")
    with transaction.atomic():
        with pytest.raises(IntegrityError):
            insert.run(identity="w", task_queue="q", database="d", home="h")
        assert transaction.get_rollback()


def test_an_insert_fills_in_what_create_fills_in() -> None:
    CompiledInsert(Workspace).run(identity="w", task_queue="q", database="d", home="h")
    assert Workspace.objects.get(identity="w").created_at is not None


@pytest.mark.parametrize("values", [(), (uuid4(),), (uuid4(), None), (uuid4(), "score", 3)])
def test_a_statement_takes_one_value_for_each_of_its_places(values: tuple[object, ...]) -> None:
    query = CompiledQuery(
        lambda job_id, stage: JobStageState.objects.filter(job_id=job_id, stage=stage), UUIDField(), TextField()
    )
    with pytest.raises(TypeError, match="takes 2 values"):
        query.rows(*values)
