"""The registry of events and folds: names, versions, and that folds read only what events hold."""

import dataclasses
import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection

from operations.database import writer
from operations.eventlog import JobEvent, append, event, find_event_type, list_event_types, read_after, upcaster
from operations.eventlog import registry as events
from operations.folding import ProjectionTable, fold, list_tables, project
from operations.folding import registry as folds
from operations.models import JobEventRow
from operations.projections import job_list

#: Declared on the contracts page and folded already, before the app that emits them exists.
NOT_YET_EMITTED = {"ScoreCorrected"}


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Events, upcasters and folds declared in a test are gone after it."""
    monkeypatch.setattr(events, "_types", dict(events._types))
    monkeypatch.setattr(events, "_upcasters", dict(events._upcasters))
    monkeypatch.setattr(folds, "_tables", dict(folds._tables))
    monkeypatch.setattr(job_list, "rules", dict(job_list.rules))
    yield


def test_it_knows_every_event_type_that_a_fold_reads_with_the_fields_it_reads() -> None:
    faults = []
    for table in list_tables():
        for name, rule in table.rules.items():
            declared = find_event_type(name)
            if declared is None:
                if name not in NOT_YET_EMITTED:
                    faults.append(f"{table.name} folds {name}, which no app declares")
                continue
            faults += [
                f"{table.name} reads {name}.{field}, which it does not hold"
                for field in sorted(rule.reads - declared.json_fields)
            ]
    assert list_tables()
    assert faults == []


def test_it_folds_with_no_field_that_is_not_listed_as_read() -> None:
    """A payload of exactly the fields in ``reads`` is enough for every fold."""
    faults = []
    for table in list_tables():
        for name, rule in table.rules.items():
            declared = find_event_type(name)
            if declared is None:
                continue
            required = _list_required(declared)
            body = {key: value for key, value in _sample(declared).items() if key in rule.reads or key not in required}
            logged = events.LoggedEvent(1, name, "local", uuid4(), "w", "r", body, _moment())
            row = table.compiled.new_row("key", "local")
            try:
                rule.apply(row, logged)
            except KeyError as missing:
                faults.append(f"{table.name} reads {name}.{missing.args[0]} without listing it")
    assert faults == []


def _list_required(declared: events.EventType) -> set[str]:
    fields = dataclasses.fields(declared.payload_class)  # type: ignore[arg-type]
    return {events.to_camel(f.name) for f in fields}


def _moment() -> Any:
    from datetime import UTC, datetime

    return datetime(2026, 9, 1, tzinfo=UTC)


def _sample(declared: events.EventType) -> dict[str, Any]:
    return {json_name: _sample_value(kind) for json_name, kind in _iter_kinds(declared)}


def _iter_kinds(declared: events.EventType) -> list[tuple[str, object]]:
    hints = events.describe_fields(declared.payload_class)
    return [(json_name, hints[name]) for name, json_name in declared.fields]


def _sample_value(kind: object) -> Any:
    text = str(kind)
    if "dict" in text:
        return {}
    if "tuple" in text:
        return []
    if kind is int:
        return 1
    if kind is bool:
        return False
    if "datetime" in text:
        return "2026-09-01T00:00:00Z"
    return "enrich"


def test_it_has_no_two_fields_of_one_event_under_one_json_name() -> None:
    for name, declared in list_event_types().items():
        json_names = [json_name for _, json_name in declared.fields]
        assert len(json_names) == len(set(json_names)), name
        assert all("_" not in json_name for json_name in json_names), name


def test_it_refuses_two_fields_that_would_share_a_json_name(own_registry: None) -> None:
    with pytest.raises(ValueError, match="fitScore"):

        @event("Colliding")
        class Colliding(JobEvent):
            job_id: UUID
            fit_score: int
            fitScore: int


def test_it_names_job_events_by_a_job_and_others_by_none() -> None:
    for name, declared in list_event_types().items():
        is_about_job = issubclass(declared.payload_class, JobEvent)
        assert ("jobId" in declared.json_fields) == (is_about_job or name == "WorkflowStarted"), name


def test_it_refuses_a_second_declaration_of_one_name(own_registry: None) -> None:
    with pytest.raises(ValueError, match="StageStarted is declared twice"):

        @event("StageStarted")
        class Other(JobEvent):
            job_id: UUID


def test_it_refuses_a_second_fold_and_a_second_table_of_one_name(own_registry: None) -> None:
    table = list_tables("operations")[0]
    with pytest.raises(ValueError, match="two folds for JobDiscovered"):
        fold(table, "JobDiscovered")(lambda row, logged: None)
    with pytest.raises(ValueError, match="declared twice"):
        project(_model_of(table), key_of=lambda logged: logged.job_id)


def _model_of(table: ProjectionTable) -> Any:
    from django.apps import apps

    return next(model for model in apps.get_models() if model._meta.db_table == table.name)


# --- versions ----------------------------------------------------------------------------------


def _declare_second_version() -> type[JobEvent]:
    @event("JobRanked", version=2)
    class JobRanked(JobEvent):
        job_id: UUID
        fit_score: int

    @upcaster("JobRanked", from_version=1)
    def rename_stars(payload: dict[str, Any]) -> dict[str, Any]:
        return {"jobId": payload["jobId"], "fitScore": payload["stars"] * 2}

    @fold(job_list, "JobRanked", reads=("fitScore",))
    def set_score(row: Any, logged: Any) -> None:
        row.fit_score = logged.payload["fitScore"]

    return JobRanked


def _store_first_version(job_id: UUID, stars: int) -> None:
    """As an older release of the product left it in the log."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO job_events (tenant_id, event_type, version, typed, job_id, workflow_id, run_id, payload, "
            "recorded_at) VALUES ('local', 'JobRanked', 1, %s, %s, '', '', %s, %s)",
            [
                True,
                job_id if connection.vendor == "postgresql" else job_id.hex,
                json.dumps({"jobId": str(job_id), "stars": stars}),
                "2026-09-01 10:00:00+00:00" if connection.vendor == "postgresql" else "2026-09-01 10:00:00",
            ],
        )


def test_it_reads_and_folds_a_stored_older_version_as_the_newest(
    own_registry: None, db: None, assert_rebuild_matches: Callable[[], None]
) -> None:
    from operations.folding.engine import catch_up
    from operations.models import JobListProjection

    job_ranked, old, new = _declare_second_version(), uuid4(), uuid4()
    _store_first_version(old, stars=4)
    with writer():
        append(job_ranked(job_id=new, fit_score=5))  # type: ignore[call-arg]
    catch_up("operations")

    assert [logged.payload["fitScore"] for logged in read_after(0)] == [8, 5]
    assert JobListProjection.objects.get(job_id=old).fit_score == 8
    assert JobListProjection.objects.get(job_id=new).fit_score == 5
    assert list(JobEventRow.objects.order_by("id").values_list("version", flat=True)) == [1, 2]
    assert_rebuild_matches()


def test_it_goes_through_every_version_between(own_registry: None) -> None:
    @event("JobRanked", version=3)
    class JobRanked(JobEvent):
        job_id: UUID

    upcaster("JobRanked", from_version=1)(lambda payload: {**payload, "steps": [1]})
    upcaster("JobRanked", from_version=2)(lambda payload: {**payload, "steps": [*payload["steps"], 2]})

    assert events.raise_to_current("JobRanked", 1, {}) == {"steps": [1, 2]}
    assert events.raise_to_current("JobRanked", 2, {"steps": []}) == {"steps": [2]}
    assert events.raise_to_current("JobRanked", 3, {}) == {}


def test_it_refuses_two_upcasters_for_one_step(own_registry: None) -> None:
    upcaster("JobRanked", from_version=1)(lambda payload: payload)
    with pytest.raises(ValueError, match="two upcasters for JobRanked version 1"):
        upcaster("JobRanked", from_version=1)(lambda payload: payload)


def test_it_has_an_upcaster_for_every_version_that_was_ever_stored() -> None:
    for name, declared in list_event_types().items():
        for version in range(1, declared.version):
            assert (name, version) in events._upcasters, f"{name} version {version} cannot be read any more"
