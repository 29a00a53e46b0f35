"""The lists: paging by key, filters, exports, and what they cost."""

import base64
import json
import re
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from operations.database import writer
from operations.eventlog import append
from operations.events import StageStarted
from operations.listing import run_words
from operations.listing import runs as listing_runs
from operations.listing.paging import encode_cursor
from tests.operations.api.conftest import START, Script, walk
from tests.operations.api.test_answer_requests import read_error
from tests.operations.cast import Cast

# --- paging ------------------------------------------------------------------------------------


PAGED: list[tuple[str, str, str, dict[str, str], int]] = [
    ("/v1/jobs", "jobs", "jobId", {}, 1900),
    ("/v1/jobs", "jobs", "jobId", {"sort": "newest"}, 1900),
    ("/v1/jobs", "jobs", "jobId", {"view": "hidden"}, 50),
    ("/v1/jobs", "jobs", "jobId", {"view": "deleted", "sort": "newest"}, 50),
    ("/v1/workflow-runs", "runs", "runId", {}, 2000),
    ("/v1/workflow-runs", "runs", "runId", {"status": "ended_badly"}, 100),
    ("/v1/workflow-runs", "runs", "runId", {"sort": "oldest"}, 2000),
    ("/v1/workflow-runs", "runs", "runId", {"sort": "oldest", "status": "ended_badly"}, 100),
    ("/v1/workflow-runs", "runs", "runId", {"sort": "longest"}, 1950),
    ("/v1/workflow-runs", "runs", "runId", {"sort": "longest", "status": "open"}, 50),
    ("/v1/workflow-runs", "runs", "runId", {"sort": "longest", "status": "ended_badly", "type": "x"}, 0),
    ("/v1/workflow-runs", "runs", "runId", {"sort": "longest", "type": "DiscoverWorkflow"}, 100),
    ("/v1/workflow-runs", "runs", "runId", {"retrying": "now"}, 16),
    ("/v1/workflow-runs", "runs", "runId", {"q": "data engineer company 13", "sort": "oldest"}, 34),
    ("/v1/events", "events", "id", {"type": "JobScored"}, 2000),
]


def test_it_pages_through_every_row_once(script: Script, many: UUID) -> None:
    for path, rows, key, query, expected in PAGED:
        found = [row[key] for row in walk(script, path, rows, limit=47 if expected < 1000 else 200, **query)]
        assert len(found) == len(set(found)) == expected, (path, query)


def test_a_page_of_both_ways_of_ending_badly_is_in_order(script: Script, many: UUID) -> None:
    rows = list(walk(script, "/v1/workflow-runs", "runs", status="ended_badly", limit=30))
    assert {row["status"] for row in rows} == {"failed", "timed_out"}
    assert [row["runId"] for row in rows] == sorted((row["runId"] for row in rows), reverse=True)


def test_a_row_added_in_between_moves_no_page(script: Script, cast: Cast) -> None:
    first = script.get("/v1/events", {"limit": 3}).json()
    with writer():
        append(StageStarted(job_id=cast.backend, stage="score", attempt=1))
    second = script.get("/v1/events", {"limit": 3, "cursor": first["nextCursor"]}).json()
    assert first["events"][-1]["id"] - 1 == second["events"][0]["id"]


def encode(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


GARBAGE = [
    "x", "====", "é", "A" * 2000, "%00", encode({}), encode([]), encode([1]), encode(["a", "b", "c"]), encode([1, 2, 3]),
    encode([1.5, None, True]), encode([[1], [2], [3]]), encode([10**30, 1, 1]), encode([-(2**40), 1, 1]),
    encode([1, {"t": "2026-01-01"}, {"u": "x"}]), encode([1, {"t": "2026-01-01T00:00:00+00:00"}, {"u": 5}]),
    encode([1, {"t": 5}, {"u": "0" * 32}]), encode([1, {"t": "0001-01-01T00:00:00+23:59"}, {"u": "0" * 32}]),
    encode([{"t": "2026-01-01T00:00:00+00:00"}, "run\x00"]), encode([{"t": "2026-01-01T00:00:00+00:00"}, "\ud800"]),
    encode(["0"]), encode(["0; DROP TABLE job_events"]), "WzE" * 20_000,
]  # fmt: skip


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/jobs?sort=newest", "/v1/workflow-runs", "/v1/events"])
def test_it_refuses_a_cursor_that_it_did_not_give(script: Script, cast: Cast, path: str) -> None:
    for cursor in GARBAGE:
        answer = script.get(path + ("&" if "?" in path else "?") + f"cursor={cursor}")
        assert answer.status_code in (200, 400), (cursor[:80], answer.content)
        if answer.status_code == 400:
            assert list(read_error(answer, 400, "bad_request")["fields"]) == ["cursor"]
    own = encode_cursor([START, "run-00001"])
    assert script.get("/v1/jobs", {"cursor": own}).status_code == 400


# --- filters -----------------------------------------------------------------------------------


FILTERED: list[tuple[dict[str, Any], int]] = [
    ({"minScore": 9}, 345),
    ({"minScore": 9, "sort": "newest"}, 345),
    ({"maxScore": 1, "sort": "newest"}, 172),
    ({"maxScore": 1}, 172),
    ({"source": "greenhouse:board-3"}, 100),
    ({"active": "closed"}, 40),
    ({"documents": "yes"}, 200),
    ({"stage": "score", "state": "exhausted"}, 4),
    ({"stage": "score", "state": "succeeded"}, 1896),
    ({"stage": "cover"}, 0),
    ({"needs": "me"}, 4),
    ({"q": "engineer"}, 950),
    ({"q": "BACKEND"}, 500),
    ({"q": "büroleitung"}, 500),
    ({"q": "backend 12"}, 34),
    ({"q": "company 59"}, 33),
    ({"q": "qa"}, 450),
    ({"q": "engineer berlin data"}, 450),
    ({"q": "nobody"}, 0),
    ({"state": "exhausted"}, 4),
    ({"state": "succeeded"}, 1896),
    ({"minScore": 3, "maxScore": 3}, 173),
    ({"place": "berlin"}, 1895),
    ({"place": "engineer"}, 0),
    ({"place": "LISBOA, pt"}, 5),
    ({"place": "remote"}, 250),
    ({"place": "Remote Berlin", "q": "büro"}, 250),
    ({"place": "remote", "source": "greenhouse:board-3", "sort": "newest"}, 50),
    ({"place": "unknown"}, 0),
    ({"place": "erl", "view": "hidden"}, 50),
    ({"place": "pt"}, 5),
    ({"place": "li"}, 0),
]


def test_it_filters_jobs(script: Script, many: UUID) -> None:
    for query, expected in FILTERED:
        assert len(list(walk(script, "/v1/jobs", "jobs", limit=200, **query))) == expected, query


def test_it_finds_a_run_by_its_id_or_how_that_begins(script: Script, many: UUID) -> None:
    exact = script.get("/v1/workflow-runs", {"q": "prep-00012"}).json()
    assert [row["runId"] for row in exact["runs"]] == ["run-00012"]
    assert len(list(walk(script, "/v1/workflow-runs", "runs", q="run-0001", limit=200))) == 10
    assert script.get("/v1/workflow-runs", {"q": "run-%"}).json()["runs"] == []


def test_it_finds_runs_by_their_job_and_by_why_they_failed(script: Script, many: UUID) -> None:
    found = list(walk(script, "/v1/workflow-runs", "runs", q="büroleitung company 59", limit=200))
    assert len(found) == 33
    by_code = list(walk(script, "/v1/workflow-runs", "runs", q="source_unavailable", limit=200))
    assert len(by_code) == 50
    assert {row["errorCode"] for row in by_code} == {"source_unavailable"}
    by_words = list(walk(script, "/v1/workflow-runs", "runs", q="The site cannot answer", limit=200))
    assert by_words == by_code


def test_a_search_for_runs_says_what_it_leaves_out(script: Script, many: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_words, "TEXT_WINDOW", 100)
    monkeypatch.setattr(run_words, "MOST_FOUND", 10)
    answer = script.get("/v1/workflow-runs", {"q": "prep-0"}).json()
    assert len(answer["runs"]) == 10
    assert answer["notes"] == [
        "IDs and reasons are looked for in the newest 100 runs only.", "Only the newest 10 that match are shown.",
    ]  # fmt: skip
    few = script.get("/v1/workflow-runs", {"q": "engineer"}).json()["notes"]
    assert few[0].startswith("Very many jobs match")
    assert "Jobs are found by a word" in script.get("/v1/workflow-runs", {"q": "qa"}).json()["notes"][0]


def test_it_orders_runs_by_how_long_they_took(script: Script, many: UUID) -> None:
    rows = list(walk(script, "/v1/workflow-runs", "runs", sort="longest", limit=200))
    took = [row["durationMs"] for row in rows]
    assert took == sorted(took, reverse=True)
    first = script.get("/v1/workflow-runs", {"sort": "longest"}).json()
    assert "have not ended" in first["notes"][0]
    running = list(walk(script, "/v1/workflow-runs", "runs", sort="longest", status="open", limit=20))
    began = [row["startedAt"] for row in running]
    assert began == sorted(began), "of runs that go on, the oldest is the longest"


def test_it_compares_the_newest_of_very_many(script: Script, many: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing_runs, "MOST_COMPARED", 20)
    answer = script.get("/v1/workflow-runs", {"sort": "longest", "since": "2026-10-01"}).json()
    assert len(answer["runs"]) == 20
    assert len(answer["notes"]) == 2


def test_a_day_is_asked_for_with_all_its_hours(script: Script, many: UUID) -> None:
    query = {"since": "2026-10-01", "until": "2026-10-01"}
    assert len(list(walk(script, "/v1/workflow-runs", "runs", limit=200, **query))) == 2000
    moment = {"until": "2026-10-01T00:00:00Z"}
    assert script.get("/v1/workflow-runs", moment).json()["runs"] == []
    assert script.get("/v1/workflow-runs", {"until": "9999-12-31"}).status_code == 200


# --- costs -------------------------------------------------------------------------------------

LISTS: dict[str, tuple[str, int]] = {
    **{f"jobs {query}": (f"/v1/jobs?{query}", most) for query, most in (
        ("", 1), ("sort=newest", 1), ("minScore=7", 1), ("minScore=4&maxScore=5&sort=newest", 1), ("maxScore=3", 1),
        ("source=greenhouse:board-3", 1), ("active=closed", 1), ("documents=yes", 1), ("documents=no&sort=newest", 1),
        ("maxAgeDays=3", 1), ("stage=score", 2), ("stage=score&state=exhausted", 2), ("needs=me", 2),
        ("stage=score&state=succeeded&sort=newest", 2), ("view=hidden", 1), ("view=hidden&sort=newest", 1),
        ("view=deleted", 1), ("view=deleted&sort=newest", 1), ("q=engineer", 2), ("q=nobody", 2),
        ("q=büroleitung", 3), ("q=qa", 2), ("q=engineer&sort=newest&minScore=3", 2), ("place=berlin", 2),
        ("place=remote", 2), ("place=lisboa", 2), ("place=de", 2), ("place=berlin&q=engineer&sort=newest", 3),
        ("state=exhausted", 2), ("state=succeeded", 3))},
    **{f"runs {query}": (f"/v1/workflow-runs?{query}", most + 1) for query, most in (  # and what the page's runs cost
        ("", 1), ("status=open", 2), ("status=ended_badly", 3), ("status=succeeded", 1), ("type=DiscoverWorkflow", 1),
        ("since=2026-10-01", 1), ("until=2026-10-02", 1), ("q=prep-00012", 3), ("q=run-0", 7), ("q=engineer", 7),
        ("q=source_unavailable", 7), ("retrying=now", 2), ("sort=oldest", 1), ("sort=oldest&status=ended_badly", 3),
        ("sort=longest", 1), ("sort=longest&status=open", 2), ("sort=longest&status=ended_badly", 6),
        ("sort=longest&type=DiscoverWorkflow", 2), ("sort=longest&since=2026-10-01", 2),
        ("jobId=00000000-0000-0000-0000-000000000001", 1))},
    **{f"events {query}": (f"/v1/events?{query}", most) for query, most in (
        ("", 1), ("type=JobScored", 1), ("runId=run-00012", 1), ("workflowId=prep-00012", 1), ("q=score", 2),
        ("jobId=00000000-0000-0000-0000-000000000001&type=JobScored", 1), ("type=StageStarted&runId=run-00012", 1))},
}  # fmt: skip
#: Sets that something else bounds: 500 or 1,000 ids, the jobs of one board, the runs of one job or of one exact ID.
BOUNDED = (
    *("place=lisboa", "place=remote"),
    *("needs=me", "source=", "q=nobody", "q=büroleitung", "exhausted", "jobId=", "q=prep-00012", "retrying=now"),
    *("runs q=", "sort=longest&status=ended_badly", "sort=longest&type=", "sort=longest&since="),
)


def test_a_list_takes_few_statements_and_no_scan(
    script: Script, many: UUID, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    script.get("/v1/views")  # notes the token's use
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    for name, (path, most) in LISTS.items():
        with django_assert_max_num_queries(most + 1) as captured:  # the token
            assert script.get(path).status_code == 200, name
        for query in captured.captured_queries:
            for line in explain(query["sql"]):
                assert not is_scan(line) or is_walk_of_the_log(line, query["sql"]), (name, line, query)
                is_bounded = any(part in name for part in BOUNDED)
                assert not is_sort(line) or is_bounded, (name, line, query)


def is_scan(line: str) -> bool:
    """Of a whole table; PostgreSQL is asked with sequential scans switched off, so one that is left has no index."""
    return re.match(r"SCAN \w+$", line) is not None or "Seq Scan" in line


def is_sort(line: str) -> bool:
    """SQLite's: PostgreSQL rightly sorts the few rows that it expects of a table as small as this."""
    return "TEMP B-TREE FOR ORDER BY" in line


@pytest.mark.skipif("postgres" not in str(connection.vendor), reason="the plans read here are PostgreSQL's")
def test_the_run_list_is_read_from_its_indexes_on_postgres(script: Script, many: UUID) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")  # of few rows it would be the cheaper way
    for name, (path, _) in LISTS.items():
        if not name.startswith("runs"):
            continue
        with CaptureQueriesContext(connection) as captured:
            script.get(path)
        for sql in (query["sql"] for query in captured.captured_queries):
            if not sql.startswith("SELECT") or "workflow_run_projections" not in sql:
                continue
            with connection.cursor() as cursor:
                cursor.cursor.execute(f"EXPLAIN {sql}")
                plan = "\n".join(str(row[0]) for row in cursor.fetchall())
            assert "Seq Scan on workflow_run_projections" not in plan, (name, sql, plan)
            is_bounded = any(part in name for part in BOUNDED)
            assert is_bounded or not re.search(r"(?<!Incremental )Sort  ", plan), (name, sql, plan)


def is_walk_of_the_log(line: str, sql: str) -> bool:
    """The log's own order is its primary key, which SQLite calls a scan."""
    return line == "SCAN job_events" and 'ORDER BY "job_events"."id" DESC LIMIT' in sql


def explain(sql: str) -> list[str]:
    if not sql.startswith("SELECT"):
        return []
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.cursor.execute(f"EXPLAIN {sql}")
            return [str(row[0]) for row in cursor.fetchall()]
        cursor.cursor.execute(f"EXPLAIN QUERY PLAN {sql}".replace("%%", "%"))
        return [str(row[3]) for row in cursor.fetchall()]
