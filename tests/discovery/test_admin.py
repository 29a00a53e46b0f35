"""What an operator may do to jobs and sources in the admin."""

from collections.abc import Callable
from uuid import UUID

import pytest
from django.test import Client

from discovery.models import Job, SourceRegistryEntry
from discovery.services.sources import register_source
from operations.models import JobEventRow
from tests.operations.admin_pages import act, list_url, read_messages, sign_in
from tests.operations.cast import Cast, list_types, record_cast

JOBS, SOURCES = "discovery_job", "discovery_sourceregistryentry"
Rebuilt = Callable[[], None]


@pytest.fixture
def operator(db: None) -> Client:
    return sign_in()


@pytest.fixture
def cast(db: None) -> Cast:
    return record_cast()


def last_event() -> int:
    return JobEventRow.objects.order_by("-id").values_list("id", flat=True)[0]


def get_job(job_id: UUID) -> Job:
    return Job.objects.get(id=job_id)


def test_it_hides_jobs_and_shows_them_again(operator: Client, cast: Cast, assert_rebuild_matches: Rebuilt) -> None:
    before = last_event()
    done = act(operator, JOBS, "hide", cast.sales, cast.office)
    assert read_messages(done) == ["Hide: 2 jobs."]
    assert get_job(cast.sales).hidden
    assert not get_job(cast.data).hidden
    act(operator, JOBS, "unhide", cast.sales)
    assert not get_job(cast.sales).hidden
    assert list_types(before) == ["JobHidden", "JobHidden", "JobUnhidden"]
    assert_rebuild_matches()


def test_it_deletes_a_job_once_asked_and_restores_it(
    operator: Client, cast: Cast, assert_rebuild_matches: Rebuilt
) -> None:
    before = last_event()
    asked = act(operator, JOBS, "delete_jobs", cast.sales)
    assert "Delete these jobs?" in asked.content.decode()
    assert "Sales Lead at Juniper Foods" in asked.content.decode()
    assert list_types(before) == []
    act(operator, JOBS, "delete_jobs", cast.sales, confirmed="yes")
    assert get_job(cast.sales).deleted_at
    act(operator, JOBS, "restore", cast.sales)
    assert get_job(cast.sales).deleted_at is None
    assert [name for name in list_types(before) if name.startswith("Job")] == ["JobDeleted", "JobRestored"]
    assert_rebuild_matches()


def test_doing_it_twice_changes_nothing_and_says_so(operator: Client, cast: Cast) -> None:
    act(operator, JOBS, "hide", cast.sales)
    before = last_event()
    again = act(operator, JOBS, "hide", cast.sales)
    assert "1 job left as before" in read_messages(again)[0]
    assert list_types(before) == []


def test_an_unknown_job_is_not_acted_on(operator: Client, cast: Cast) -> None:
    before = last_event()
    page = act(operator, JOBS, "hide", "00000000-0000-0000-0000-00000000000f")
    assert page.status_code == 200
    assert list_types(before) == []


def test_it_switches_a_source_off_and_on(operator: Client, db: None, assert_rebuild_matches: Rebuilt) -> None:
    source_id = register_source("greenhouse", "harbour", label="Harbour <Analytics>")
    before = last_event()
    done = act(operator, SOURCES, "disable", source_id)
    assert read_messages(done) == ["Disabled: 1."]
    assert "Harbour &lt;Analytics&gt;" in done.content.decode()
    assert not SourceRegistryEntry.objects.get().enabled
    act(operator, SOURCES, "enable", source_id)
    assert SourceRegistryEntry.objects.get().enabled
    assert list_types(before) == ["SourceRegistryEntryUpdated", "SourceRegistryEntryUpdated"]
    assert operator.get(list_url(SOURCES), {"q": "greenhouse:har"}).context["cl"].result_count == 1
    assert_rebuild_matches()
