"""The lists as files: CSV and JSON of all that match, cut where they are too many."""

import csv
import io
import json
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from operations.api import exports
from operations.models import JobListProjection
from tests.operations.api.conftest import JOBS, Script, walk
from tests.operations.cast import Cast


def test_a_spreadsheet_runs_nothing_of_an_export(script: Script, cast: Cast) -> None:
    titles = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", 'Lead, "QA"\nnight', "＝1", "Safe"]
    JobListProjection.objects.all().delete()
    for title in titles:
        JobListProjection.objects.create(job_id=uuid4(), title=title, discovered_at=timezone.now())
    answer = script.get("/v1/jobs", {"format": "csv"})
    assert answer["content-type"] == "text/csv; charset=utf-8"
    assert answer["content-disposition"] == 'attachment; filename="jobs.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
    found = {row["title"] for row in rows}
    assert found == {title if title in ("Safe", 'Lead, "QA"\nnight') else f"'{title}" for title in titles}


def test_an_export_holds_all_that_match(script: Script, many: UUID) -> None:
    jobs = script.get("/v1/jobs", {"format": "csv", "documents": "yes"}).content.decode()
    assert len(jobs.splitlines()) == 1 + 200
    events = script.get("/v1/events", {"format": "csv", "type": "JobScored"}).content.decode()
    rows = list(csv.DictReader(io.StringIO(events, newline="")))
    assert len(rows) == JOBS
    assert json.loads(rows[0]["payload"]) == {"attempt": 1, "stage": "score"}
    answer = script.get("/v1/jobs", {"format": "json", "documents": "yes"})
    assert answer["content-disposition"] == 'attachment; filename="jobs.json"'
    paged = list(walk(script, "/v1/jobs", "jobs", documents="yes", limit=60))
    assert answer.json() == {"jobs": paged, "nextCursor": "", "notes": []}
    assert len(paged) == 200
    answer = script.get("/v1/events", {"format": "json", "type": "JobScored"})
    assert answer.json()["events"] == list(walk(script, "/v1/events", "events", type="JobScored", limit=200))


def test_an_export_says_where_it_was_cut(script: Script, many: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    for most, is_cut in ((200, False), (199, True)):
        monkeypatch.setattr(exports, "EXPORT_LIMIT", most)
        query = {"documents": "yes", "sort": "newest"}
        lines = script.get("/v1/jobs", {**query, "format": "csv"})
        assert len(lines.content.decode().splitlines()) == 1 + most + is_cut
        assert lines.content.decode().splitlines()[-1].startswith('"Only the first') == is_cut
        whole = script.get("/v1/jobs", {**query, "format": "json"})
        assert len(whole.json()["jobs"]) == most
        assert [note[:14] for note in whole.json()["notes"]] == ["Only the first"] * is_cut
        for answer in (lines, whole):
            assert ("jobs-first-199." in answer["content-disposition"]) == is_cut
        if is_cut:
            rest = script.get("/v1/jobs", {**query, "cursor": whole.json()["nextCursor"]}).json()
            assert (len(rest["jobs"]), rest["nextCursor"]) == (1, "")
    none = script.get("/v1/jobs", {"q": "nobody", "format": "json"})
    assert none.json() == {"jobs": [], "nextCursor": "", "notes": []}
