"""The sources page: which boards are looked at, how that went, and adding one."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from discovery.models import DiscoveryRun, DiscoveryRunSource, JobSourceObservation, SourceRegistryEntry
from discovery.services.profiles import import_profile
from discovery.services.sources import (
    record_source_state,
    register_bundled_sources,
    register_source,
    set_source_enabled,
)
from discovery.sources.addresses import BoardAddress, is_address, read_board_address
from operations.access.accounts import ensure_operator
from operations.database import writer
from operations.first_steps import read_first_steps
from operations.models import JobEventRow, WorkflowRunProjection

pytestmark = pytest.mark.django_db

Check = Callable[[], None]

GRETA = b'{"basics": {"name": "Greta"}, "work": [{"name": "Northwind"}]}'


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(ensure_operator())
    return client


def read(response: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def list_ids() -> list[str]:
    return sorted(SourceRegistryEntry.objects.values_list("id", flat=True))


def record_reading(source_id: str, *, state: str = "succeeded", code: str = "", **counts: int) -> None:
    with writer():
        record_source_state(source_id, state=state, error_code=code)
        DiscoveryRun.objects.get_or_create(
            run_id="run-1", defaults={"workflow_id": "discover-local", "started_at": timezone.now()}
        )
        DiscoveryRunSource.objects.create(
            run_id="run-1", source_id=source_id, family="x", state=state, counts=counts, updated_at=timezone.now()
        )


# --- addresses ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("https://boards.greenhouse.io/acme", ("greenhouse", "acme")),
        ("https://boards.greenhouse.io/acme/jobs/4012", ("greenhouse", "acme")),
        ("job-boards.greenhouse.io/acme?gh_src=1", ("greenhouse", "acme")),
        ("https://boards.greenhouse.io/embed/job_board?for=acme", ("greenhouse", "acme")),
        ("https://boards-api.greenhouse.io/v1/boards/acme/jobs?content=true", ("greenhouse", "acme")),
        ("  http://jobs.lever.co/acme/ ", ("lever", "acme")),
        ("https://api.lever.co/v0/postings/acme?mode=json", ("lever", "acme")),
        ("https://jobs.eu.lever.co/acme", ("lever", "acme", "https://api.eu.lever.co")),
        ("https://JOBS.ASHBYHQ.COM/Acme", ("ashby", "Acme")),
        ("https://api.ashbyhq.com/posting-api/job-board/acme", ("ashby", "acme")),
        ("https://jobs.lever.co/", None),
        ("https://boards.greenhouse.io/embed/job_board", None),
        ("https://api.lever.co/v1/postings/acme", None),
        ("https://jobs.lever.co.example.com/acme", None),
        ("ftp://jobs.lever.co/acme", None),
        ("https://[jobs.lever.co/acme", None),
        ("https://acme.example.com/careers", None),
    ],
)
def test_it_reads_the_address_of_a_board(text: str, found: tuple[str, ...] | None) -> None:
    assert is_address(text.strip())
    assert read_board_address(text) == (BoardAddress(*found) if found else None)


@pytest.mark.parametrize("token", ["acme", "acme.io", "acme-labs_2", ""])
def test_it_takes_a_token_for_a_token(token: str) -> None:
    assert not is_address(token)


# --- the page ----------------------------------------------------------------------------------


def test_it_offers_the_samples_where_there_is_nothing(operator: Client, assert_rebuild_matches: Check) -> None:
    page = operator.get("/discovery/")
    assert "No boards yet" in read(page) and "Add the sample boards" in read(page)

    page = operator.post("/discovery/samples/", follow=True)

    assert "7 sample boards are looked at from the next run on." in read(page)
    assert "Import your profile next" in read(page)
    assert "Add the sample boards" not in read(page)
    assert_rebuild_matches()


@pytest.mark.parametrize(
    ("form", "source_id"),
    [
        ({"board": "https://boards.greenhouse.io/acme"}, "greenhouse:acme"),
        ({"board": "jobs.lever.co/acme", "kind": "lever"}, "lever:acme"),
        ({"board": " acme ", "kind": "ashby", "label": "Acme <b>"}, "ashby:acme"),
    ],
)
def test_it_adds_a_board(operator: Client, form: dict[str, str], source_id: str, assert_rebuild_matches: Check) -> None:
    page = operator.post("/discovery/add/", form, follow=True)

    assert f"{source_id} is looked at from the next run on" in read(page)
    assert list_ids() == [source_id]
    assert "<b>" not in page.content.decode()
    assert_rebuild_matches()


@pytest.mark.parametrize(
    ("form", "field", "reason"),
    [
        ({}, "board", "Paste the board's address"),
        ({"board": "acme"}, "kind", "A token alone does not say"),
        ({"board": "https://example.com/jobs"}, "board", "not the address of a Greenhouse, Lever or Ashby board"),
        ({"board": "https://jobs.lever.co/acme", "kind": "ashby"}, "kind", "address of a Lever board"),
        ({"board": "a b", "kind": "lever"}, "board", "letters, digits, dots"),
        ({"board": "x" * 5000, "kind": "lever"}, "board", "longer than 100 characters"),
        ({"board": "a\x00b", "kind": "lever"}, "board", "letters, digits"),
        ({"board": "acme", "kind": "myspace"}, "kind", "No source of kind"),
        ({"board": "acme", "kind": "lever", "base_url": "ftp://x"}, "base_url", "must start with https://"),
    ],
)
def test_it_refuses_a_board_at_its_field_and_keeps_what_was_typed(
    operator: Client, form: dict[str, str], field: str, reason: str
) -> None:
    page = operator.post("/discovery/add/", form | {"label": "Typed label"})

    assert page.status_code == 400
    html = unescape(page.content.decode())
    assert reason in html.partition(f'id="{field}-error">')[2].partition("</p>")[0]
    assert 'value="Typed label"' in html
    assert not list_ids()


def test_it_says_in_words_how_each_board_went(operator: Client) -> None:
    for board in ("good", "gone", "slow", "fresh"):
        register_source("lever", board)
    record_reading("lever:good", postings=18, new=3, beyondLimit=2)
    record_reading("lever:gone", state="failed", code="NOT_FOUND")
    record_reading("lever:slow", state="failed", code="RATE_LIMITED")
    now = timezone.now()
    JobSourceObservation.objects.create(
        job_id="00000000-0000-4000-8000-000000000001",
        source_id="lever:good", external_id="1", first_seen_at=now, last_seen_at=now,
    )  # fmt: skip

    page = operator.get("/discovery/")
    text = read(page)

    assert "4 boards looked at · 2 could not be read" in text
    assert "18 postings, 3 new, 2 not taken" in text
    assert "Failed: there is no such board" in text and "compare the token" in text
    assert "Failed: the site asks us to slow down" in text
    assert "Not read yet" in text
    assert "NOT_FOUND" not in page.content.decode()
    assert '<span class="chip person" title="Open its address' in page.content.decode()
    assert re.search(r'source=lever%3Agood">1</a>', page.content.decode())


def test_a_board_that_no_later_run_will_read_needs_a_person(operator: Client) -> None:
    """One that passes by itself does not, nor one that is off."""
    for board, code in (("gone", "NOT_FOUND"), ("slow", "RATE_LIMITED"), ("off", "NOT_FOUND")):
        register_source("lever", board)
        record_reading(f"lever:{board}", state="failed", code=code)
    set_source_enabled("lever:off", enabled=False)

    text = read(operator.get("/"))

    assert "1 for you" in text
    assert "The board gone could not be read Open its address in a browser" in text
    assert "Failed: there is no such board" in text
    assert "The board slow" not in text and "The board off" not in text


def test_it_turns_a_board_off_and_on(operator: Client, assert_rebuild_matches: Check) -> None:
    register_source("lever", "acme")

    page = operator.post("/discovery/switch/", {"off": "lever:acme"}, follow=True)
    assert "its jobs stay" in read(page) and "1 off" in read(page)
    assert not SourceRegistryEntry.objects.get().enabled
    operator.post("/discovery/switch/", {"off": "lever:acme"})
    operator.post("/discovery/switch/", {"on": "lever:acme"})

    assert SourceRegistryEntry.objects.get().enabled
    updates = JobEventRow.objects.filter(event_type="SourceRegistryEntryUpdated").order_by("id")
    assert [row.payload["enabled"] for row in updates] == [False, True]
    assert_rebuild_matches()


@pytest.mark.parametrize("form", [{}, {"on": "lever:none"}, {"off": "\x00"}, {"off": "x" * 5000}])
def test_it_knows_no_other_board(operator: Client, form: dict[str, str]) -> None:
    page = operator.post("/discovery/switch/", form, follow=True)

    assert page.status_code == 200 and "no such source" in read(page)


def test_it_answers_its_live_part_alone(operator: Client) -> None:
    register_bundled_sources()

    html = operator.get("/discovery/?fragment=list").content.decode()

    assert html.lstrip().startswith('<div id="sources" data-region="sources"')
    assert "csrfmiddlewaretoken" not in html


def test_it_follows_the_run_that_reads_now(operator: Client) -> None:
    WorkflowRunProjection.objects.create(
        run_id="run-7", workflow_id="discover-local", workflow_type="DiscoverWorkflow", status="in_progress"
    )

    assert "/runs/run-7/" in operator.get("/discovery/").content.decode()


def test_it_leads_from_nothing_to_the_first_run_in_three_steps(operator: Client) -> None:
    """Each step is a link or a button of a plain form, in order; the last is offered once the others are done."""
    page = operator.get("/").content.decode()
    assert 'class="button primary" href="/profile/"' in page and 'action="/start/"' not in page
    import_profile(GRETA)
    page = operator.get("/").content.decode()
    assert 'class="button primary" href="/discovery/"' in page and 'action="/start/"' not in page
    operator.post("/discovery/samples/")

    page = operator.get("/").content.decode()

    assert 'method="post" action="/start/"' in page
    assert [shown.done for shown in read_first_steps()] == [True, True, False]
    WorkflowRunProjection.objects.create(run_id="run-1", workflow_id="d", workflow_type="DiscoverWorkflow")
    assert read_first_steps() == []


def test_it_asks_for_a_source_again_where_all_are_off(operator: Client) -> None:
    import_profile(GRETA)
    register_source("lever", "acme")
    operator.post("/discovery/switch/", {"off": "lever:acme"})

    assert [shown.done for shown in read_first_steps()] == [True, False, False]
