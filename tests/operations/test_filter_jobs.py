"""The job list page: its filters, what is set, and one action over all that match."""

import html
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client

from operations.access.accounts import ensure_operator
from operations.contracts import StageName, StageState
from operations.models import JobListProjection, SavedView
from operations.search_index import install_search
from operations.views import bulk
from tests.operations.cast import Cast, put_row

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(cast: Cast) -> Client:
    client = Client()
    client.force_login(ensure_operator())
    places = {cast.backend: ("Austin", "remote"), cast.data: ("Berlin, DE", "hybrid"), cast.sales: ("Oslo", "unknown")}
    for job_id, (place, mode) in places.items():
        JobListProjection.objects.filter(job_id=job_id).update(location=place, work_mode=mode)
    JobListProjection.objects.filter(job_id=cast.office).update(location="Remote, US", work_mode="onsite")
    return client


def read(client: Client, query: str = "", status: int = 200) -> str:
    answer = client.get(f"/jobs/?{query}")
    assert answer.status_code == status
    return answer.content.decode()


def list_titles(page: str) -> set[str]:
    return set(re.findall(r"data-row-link[^>]*><bdi>([^<]*)", page))


def list_set(page: str) -> dict[str, dict[str, list[str]]]:
    """What is set, in words, each with the filters that are left without it."""
    found = re.findall(r'<li class="pill"><bdi>([^<]*)</bdi> <a href="([^"]*)"', page)
    return {html.unescape(label): parse_qs(urlsplit(html.unescape(url)).query) for label, url in found}


@pytest.mark.parametrize(
    ("place", "titles"),
    [
        ("remote", {"Backend Engineer", "Office Manager"}),
        ("REMOTE us", {"Office Manager"}),
        ("us", {"Office Manager"}),
        ("Berlin", {"Data Engineer"}),
        ("de", {"Data Engineer"}),
        ("berlin, hybrid", {"Data Engineer"}),
        ("on-site", {"Office Manager"}),
        ("engineer", set()),
        (", ;", {"Backend Engineer", "Data Engineer", "Sales Lead", "Office Manager"}),
        ("%", set()),
    ],
)
def test_it_filters_by_place(operator: Client, place: str, titles: set[str]) -> None:
    page = operator.get("/jobs/", {"place": place})
    assert list_titles(page.content.decode()) == titles


@pytest.mark.skipif(
    "postgres" in str(connection.vendor), reason="SQLite's search tables; PostgreSQL gets one more index"
)
def test_it_finds_places_in_a_workspace_of_an_older_version(operator: Client) -> None:
    with connection.cursor() as cursor:
        for statement in (
            *(f"DROP TRIGGER job_list_search_{name}" for name in ("added", "changed", "removed")),
            "DROP TABLE job_search_fts",
            "DROP TABLE job_search",
            "CREATE TABLE job_search (id INTEGER PRIMARY KEY, job_id char(32) NOT NULL UNIQUE, body text NOT NULL)",
            "INSERT INTO job_search(job_id, body) SELECT job_id, 'stale' FROM job_list_projections",
        ):
            cursor.execute(statement)
    install_search()
    install_search()
    assert list_titles(read(operator, "place=oslo")) == {"Sales Lead"}
    assert list_titles(read(operator, "q=oslo")) == {"Sales Lead"}


def test_it_shows_what_is_set_and_takes_each_away(operator: Client, cast: Cast) -> None:
    put_row(cast.data, StageName.SCORE, StageState.FAILED, retryable=False)
    query = "q=engineer&place=berlin&stage=score&state=failed&source=greenhouse:harbour&maxAgeDays=30&sort=newest"
    page = read(operator, query)
    assert list_titles(page) == {"Data Engineer"}
    found = list_set(page)
    assert list(found) == [
        "“engineer”", "Place: berlin", "Step: Scoring", "State: Failed", "Source: Greenhouse · harbour", "In a month",
    ]  # fmt: skip
    assert "place" not in found["Place: berlin"]
    assert found["Place: berlin"]["stage"] == ["score"]
    for value in ("berlin", "engineer"):
        assert f'value="{value}"' in page
    for value in ("score", "failed", "greenhouse:harbour", "30"):
        assert f'<option value="{value}" selected>' in page
    assert '<details class="plain further" open>' in page
    assert '<details class="plain further">' in read(operator, "place=berlin")


def test_a_pill_is_not_said_twice_and_keeps_the_place(operator: Client) -> None:
    page = read(operator, "place=berlin&view=hidden")
    assert list(list_set(page)) == ["Place: berlin"]
    assert re.search(r'<a class="pill "[^>]*href="/jobs/\?place=berlin&amp;documents=yes"', page)
    assert list_set(read(operator, "minScore=4&maxScore=6")).keys() == {"Fit 4 or above", "Fit 6 or below"}


def test_a_state_needs_no_step(operator: Client, cast: Cast) -> None:
    put_row(cast.sales, StageName.ENRICH, StageState.CANCELED)
    assert list_titles(read(operator, "state=canceled")) == {"Sales Lead"}


def test_pills_count_the_whole_list_only(operator: Client, cast: Cast) -> None:
    JobListProjection.objects.filter(job_id=cast.backend).update(sort_score=8, fit_score=8)
    JobListProjection.objects.filter(job_id=cast.data).update(sort_score=3, fit_score=3)
    counted = dict(re.findall(r'>([^<>]+) <span class="count">([^<]*)</span></a>', read(operator)))
    assert counted == {"All": "4", "Needs you": "0", "7 or above": "1", "Below 7": "1"}
    assert 'class="count"' not in read(operator, "place=berlin").split("<main", 1)[1]


def test_the_address_holds_no_empty_field(operator: Client) -> None:
    answer = operator.get("/jobs/?q=&place=oslo&stage=&state=&minScore=&maxScore=&source=&maxAgeDays=")
    assert (answer.status_code, answer["location"]) == (302, "/jobs/?place=oslo")
    assert operator.get("/jobs/?q=").headers["location"] == "/jobs/"


def test_what_was_refused_stays_in_the_form(operator: Client) -> None:
    page = read(operator, "minScore=8&maxScore=3&place=oslo", 400)
    assert "Fit up to: it is below the lowest score asked for, which is 8." in page
    assert '<option value="3" selected>' in page
    assert 'value="oslo"' in page


def test_a_source_without_jobs_is_still_shown_where_it_is_set(operator: Client) -> None:
    page = read(operator, "source=lever:gone")
    assert '<option value="lever:gone" selected>Lever · gone</option>' in page
    assert '<option value="greenhouse:juniper">Greenhouse · juniper</option>' in page


def test_a_list_that_updates_itself_keeps_its_order_and_filters(operator: Client) -> None:
    part = read(operator, "place=remote&sort=newest&fragment=list")
    assert list_titles(part) == {"Backend Engineer", "Office Manager"}
    assert re.search(r'aria-sort="descending"><a href="/jobs/\?place=remote&amp;sort=newest">Found</a>', part)


def test_a_view_keeps_the_place(operator: Client) -> None:
    operator.post("/views/save/", {"page": "jobs", "name": "Far away", "query": "place=remote&stage=score"})
    saved = SavedView.objects.get()
    assert list_set(read(operator, saved.query)).keys() == {"Place: remote", "Step: Scoring"}


# --- all that match ----------------------------------------------------------------------------


@pytest.fixture
def by_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "BULK_LIMIT", 2)


def post(client: Client, **fields: Any) -> Any:
    return client.post("/jobs/actions/", {"scope": "all", "query": "", "key": "k", **fields}, follow=True)


def read_hidden(page: str) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="(?!csrf)([^"]*)" value="([^"]*)"', page.split("<main", 1)[1]))


def test_it_says_how_many_are_left_and_goes_on_with_them(operator: Client, by_two: None) -> None:
    page = post(operator, action="hide").content.decode()
    assert "Hide: 2 jobs." in page
    assert "2 more jobs match" in page
    assert "2 jobs of 4 are through" in page
    assert JobListProjection.objects.filter(hidden=True).count() == 2

    fields = read_hidden(page)
    assert fields["key"] != "k", "what comes next is a request of its own"
    assert "Hide: 2 jobs." in post(operator, **fields).content.decode()
    assert JobListProjection.objects.filter(hidden=True).count() == 4


def test_it_asks_about_all_of_them_before_it_deletes(operator: Client, by_two: None) -> None:
    page = post(operator, action="delete").content.decode()
    assert "Delete 4 jobs?" in page
    assert not JobListProjection.objects.filter(deleted=True).exists()
    page = post(operator, action="delete", confirmed="yes").content.decode()
    assert "2 more jobs match" in page
    assert JobListProjection.objects.filter(deleted=True).count() == 2


def test_it_goes_through_all_that_match_even_where_they_stay_in_the_list(
    operator: Client, by_two: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[UUID] = []
    monkeypatch.setattr(bulk, "perform", lambda request, action, job_ids: seen.extend(job_ids) or True)
    page = post(operator, action="run-stage", stage="enrich").content.decode()
    post(operator, **read_hidden(page))
    assert len(seen) == len(set(seen)) == 4


def test_nothing_is_done_where_the_filters_are_not_understood(operator: Client) -> None:
    page = post(operator, action="hide", query="minScore=eleven").content.decode()
    assert "These filters are not understood, so nothing was changed." in page
    assert not JobListProjection.objects.filter(hidden=True).exists()
    assert "No job matches, so nothing was changed." in post(operator, action="hide", query="q=zzz").content.decode()
