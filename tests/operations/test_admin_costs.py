"""The admin's lists over growing tables: every read from an index, nothing counted, nothing sorted."""

import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.http import HttpRequest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from operations.admin.changelist import IndexedFilter
from operations.admin.tables import TableAdmin
from operations.admin.ways import ID, NUMBER
from operations.models import JobEventRow, StageCounter
from tests.operations.admin_pages import list_tables, list_url, name_table, sign_in

BOUNDED = ("stage_counters",)  # one row a stage and state
PARTIAL = ("newest_jobs_first", "hidden_jobs", "deleted_jobs")  # they hold just the rows that are asked for
EVENTS = "operations_jobeventrow"
ON_SQLITE = pytest.mark.skipif("postgres" in str(connection.vendor), reason="the plans read here are SQLite's")
INSERT_MANY = """
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %s)
INSERT INTO job_events
    (tenant_id, event_type, version, typed, job_id, workflow_id, run_id, event_key, payload, recorded_at)
SELECT 'local', CASE n %% 3 WHEN 0 THEN 'StageStarted' ELSE 'StageCompleted' END, 1, true, NULL, 'prep', 'run-' || (n / 40),
       NULL, '{"stage": "score"}', CURRENT_TIMESTAMP
FROM numbers
"""


def insert_events(count: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(INSERT_MANY, [count])


def list_queries(table: TableAdmin) -> Iterator[dict[str, str]]:
    """Every way in which a list can be asked for: whole, by each filter, each link, each search."""
    yield {}
    for spec in table.list_filter:
        assert isinstance(spec, type)
        assert issubclass(spec, IndexedFilter)
        chosen: Any = spec(HttpRequest(), {}, table.model, table)
        yield from ({chosen.parameter_name: str(value)} for value, _ in chosen.lookup_choices)
    for way in table.ways:
        values = {ID: [str(uuid4()), "ab12cd34"], NUMBER: ["7"]}.get(way.kind, ["some-value"])
        yield {way.name: values[0]}
        yield from ({"q": value} for value in values)


@ON_SQLITE
@pytest.mark.parametrize("table", list_tables(), ids=name_table)
def test_each_list_is_read_by_an_index_and_never_sorted_or_counted(table: TableAdmin, db: None) -> None:
    operator = sign_in()
    StageCounter.objects.update_or_create(stage="score", state="failed", defaults={"rows": 3})
    asked = 0
    for query in list_queries(table):
        page, statements = open_list(operator, table, query)
        assert page.status_code == 200, query
        for sql, params in statements:
            if table.opts.db_table not in BOUNDED and any(f'FROM "{name}"' in sql for name in BOUNDED):
                continue
            assert "COUNT(" not in sql, (query, sql)
            assert list_costly_steps(sql, params) == [], (query, sql)
        asked += 1
    assert asked


@ON_SQLITE
@pytest.mark.parametrize("table", [t for t in list_tables() if t.ways], ids=name_table)
def test_rows_found_are_read_in_the_order_of_the_index(table: TableAdmin, db: None) -> None:
    """As the list does once a search has found something."""
    found = [
        n for way in table.ways for n in (way.find(str(uuid4())), way.find("7"), way.find_beginning("ab12cd34")) if n
    ]
    assert found
    for narrowed in found:
        rows = table.model._default_manager.filter(narrowed.condition).order_by(
            *(f"-{name}" for name in narrowed.order)
        )
        sql, params = rows[:51].query.sql_with_params()
        assert list_costly_steps(sql, params) == [], sql


def open_list(operator: Client, table: TableAdmin, query: dict[str, str]) -> tuple[Any, list[tuple[str, Any]]]:
    statements: list[tuple[str, Any]] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("SELECT"):
            statements.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        page = operator.get(list_url(table), query)
    return page, statements


def list_costly_steps(sql: str, params: Any) -> list[str]:
    """Sorts, and walks through a table that are not the first page of its own key order."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
        steps = [str(row[3]) for row in cursor.fetchall()]
    steps = [step for step in steps if not step.endswith(tuple(f"USING INDEX {name}" for name in PARTIAL))]
    is_first_page = " WHERE " not in sql and " LIMIT " in sql
    return [
        step for step in steps if "TEMP B-TREE" in step or (re.match(r"SCAN (?!CONSTANT)", step) and not is_first_page)
    ]


@ON_SQLITE
def test_it_would_notice_a_costly_list(db: None) -> None:
    for rows in (JobEventRow.objects.order_by("recorded_at")[:50], JobEventRow.objects.filter(workflow_id="x")[:50]):
        assert list_costly_steps(*rows.query.sql_with_params())


def test_a_list_costs_the_same_statements_however_long_it_is(
    db: None, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    """Session, user and the page; nothing a row."""
    operator = sign_in()
    insert_events(20_000)
    operator.get(list_url(EVENTS))
    with django_assert_max_num_queries(3):
        page = operator.get(list_url(EVENTS))
    assert len(page.context["cl"].result_list) == 50
    with django_assert_max_num_queries(3):
        operator.get(list_url(EVENTS), {"type": "StageStarted"})
    with django_assert_max_num_queries(3):
        operator.get(list_url(EVENTS), {"run_id": "run-7"})


def test_its_pages_go_on_from_the_last_row_to_the_end(db: None) -> None:
    operator = sign_in()
    insert_events(120)
    seen: list[int] = []
    query = ""
    while True:
        page = operator.get(list_url(EVENTS) + query)
        changes = page.context["cl"]
        seen.extend(row.pk for row in changes.result_list)
        if not changes.next_query:
            break
        query = changes.next_query
    assert seen == sorted(JobEventRow.objects.values_list("pk", flat=True), reverse=True)
    assert changes.first_query
    assert operator.get(list_url(EVENTS) + changes.first_query).context["cl"].result_list[0].pk == seen[0]


def test_a_page_of_a_filtered_list_keeps_its_filter_and_a_new_filter_starts_at_the_top(db: None) -> None:
    operator = sign_in()
    insert_events(300)
    first = operator.get(list_url(EVENTS), {"type": "StageStarted"}).context["cl"]
    second = operator.get(list_url(EVENTS) + first.next_query)
    rows = second.context["cl"].result_list
    assert {row.event_type for row in rows} == {"StageStarted"}
    assert rows[0].pk < first.result_list[-1].pk
    links = re.findall(r'href="(\?type=StageCompleted[^"]*)"', second.content.decode())
    assert links == ["?type=StageCompleted"]
