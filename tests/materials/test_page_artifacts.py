"""``GET /v1/artifacts`` pages by key: all of them once, newest first, each page one index range."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from materials.models import Artifact
from materials.queries import page_artifacts
from tests.operations.admin_pages import sign_in

pytestmark = pytest.mark.django_db

FILES = 3000
ONE = UUID(int=7)
START = datetime(2026, 10, 1, tzinfo=UTC)
INDEXES = {None: "newest_artifacts_first", ONE: "newest_artifacts_of_a_job"}


@pytest.fixture
def many(db: None) -> None:
    """3,000 files of 30 jobs, four at a time in the same instant."""
    Artifact.objects.bulk_create(
        Artifact(
            id=UUID(int=number + 1),
            job_id=UUID(int=number % 30),
            kind="resume_pdf",
            version=number // 30 + 1,
            sha256=f"{number:064x}",
            size=1000,
            pages=1,
            relative_path="a",
            template="modern/a4",
            resume_version=1,
            letter_version=1,
            created_at=START + timedelta(minutes=number // 4),
        )
        for number in range(FILES)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE artifacts")


def walk(**query: str) -> Iterator[dict[str, Any]]:
    operator, cursor = sign_in(), ""
    while True:
        answer = operator.get("/v1/artifacts", {**query, "cursor": cursor}).json()
        yield from answer["artifacts"]
        cursor = answer["nextCursor"]
        if not cursor:
            return


def test_it_pages_through_every_file_once_newest_first(many: None) -> None:
    found = [UUID(row["id"]).int for row in walk(limit="200")]
    assert found == list(range(FILES, 0, -1))


def test_it_pages_through_one_jobs_files(many: None) -> None:
    found = list(walk(limit="30", jobId=str(ONE)))
    assert len(found) == 100
    assert {row["jobId"] for row in found} == {str(ONE)}
    assert [UUID(row["id"]).int for row in found] == sorted((UUID(row["id"]).int for row in found), reverse=True)


def test_it_says_that_there_is_more_where_no_limit_was_asked_for(many: None) -> None:
    answer = sign_in().get("/v1/artifacts").json()
    assert len(answer["artifacts"]) == 50
    assert answer["nextCursor"]


@pytest.mark.parametrize("query", ["cursor=x", "cursor=WzFd", "limit=0", "limit=many", "jobId=7"])
def test_it_refuses_what_it_did_not_give_and_names_the_field(query: str, db: None) -> None:
    answer = sign_in().get(f"/v1/artifacts?{query}")
    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == [query.partition("=")[0]]


@pytest.mark.parametrize("job_id", [None, ONE], ids=["all", "one job"])
def test_each_page_is_one_index_range_on_both_databases(many: None, job_id: UUID | None) -> None:
    _, cursor = page_artifacts(job_id, limit=50)
    for asked in ("", cursor):
        with CaptureQueriesContext(connection) as captured:
            page_artifacts(job_id, cursor=asked, limit=50)
        (query,) = captured.captured_queries
        plan = explain(query["sql"])
        if job_id is not None and connection.vendor == "postgresql":
            assert "Index" in plan, plan  # it may sort a job's hundred files, having found them by either index
            assert "Seq Scan" not in plan
            continue
        assert INDEXES[job_id] in plan, plan
        assert "TEMP B-TREE" not in plan
        assert "Sort" not in plan


def explain(sql: str) -> str:
    prefix = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    with connection.cursor() as cursor:
        cursor.cursor.execute(f"{prefix} {sql}")
        return "\n".join(str(row[-1]) for row in cursor.fetchall())
