"""verify_projections and rebuild_projections."""

from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

import pytest
from django.core.management.base import CommandError

from operations.folding.registry import list_tables
from operations.models import JobDetailProjection, JobEventRow, JobListProjection
from tests.commands.calling import call
from tests.discovery.cast import BACKEND, BERLIN, accept, find_job, work

pytestmark = pytest.mark.django_db

Check = Callable[[], None]


@pytest.fixture(autouse=True)
def jobs(db: None) -> None:
    accept(BACKEND, BERLIN)
    work(find_job(BACKEND).id, "enrich")


def spoil() -> None:
    """One row wrong, one lost, one too many."""
    JobListProjection.objects.filter(job_id=find_job(BACKEND).id).update(title="Something else", fit_score=9)
    JobListProjection.objects.filter(job_id=find_job(BERLIN).id).delete()
    JobListProjection.objects.create(job_id=uuid4(), tenant_id="local", title="A ghost")


def test_it_finds_a_sound_workspace_clean(assert_rebuild_matches: Check) -> None:
    printed = call("verify_projections")

    assert printed.code == 0
    assert "job_list_projections: 2 rows, as the log says" in printed.out
    assert printed.out.splitlines()[-1].endswith(" events; clean")
    assert printed.err == ""
    assert_rebuild_matches()


def test_it_counts_what_is_wrong_changes_nothing_and_exits_with_one() -> None:
    spoil()

    printed, again = call("verify_projections"), call("verify_projections")

    assert printed.code == again.code == 1
    assert "job_list_projections: 2 rows; 1 missing, 1 differing, 1 superfluous" in printed.out
    assert "job_detail_projections: 2 rows, as the log says" in printed.out
    assert printed.out.splitlines()[-1].endswith(" events; NOT clean")
    assert JobListProjection.objects.filter(title="A ghost").exists()


def test_it_mends_what_is_wrong_and_says_what_it_was(assert_rebuild_matches: Check) -> None:
    spoil()

    printed = call("rebuild_projections")

    assert printed.code == 0
    assert "job_list_projections: 2 rows; 1 missing, 1 differing, 1 superfluous" in printed.out
    assert set(JobListProjection.objects.values_list("title", "fit_score")) == {("Backend Engineer", None)}
    assert call("verify_projections").code == 0
    assert_rebuild_matches()


def test_it_rebuilds_from_nothing(assert_rebuild_matches: Check) -> None:
    before = list(JobListProjection.objects.order_by("job_id").values())
    JobListProjection.objects.all().delete()
    JobDetailProjection.objects.all().delete()

    call("rebuild_projections", "--app", "operations")

    assert list(JobListProjection.objects.order_by("job_id").values()) == before
    assert_rebuild_matches()


def test_it_goes_on_folding_after_a_rebuild(assert_rebuild_matches: Check) -> None:
    call("rebuild_projections")

    work(find_job(BERLIN).id, "enrich")

    assert JobListProjection.objects.get(job_id=find_job(BERLIN).id).stages_json["enrich"] == "succeeded"
    assert_rebuild_matches()


@pytest.mark.parametrize("name", ["verify_projections", "rebuild_projections"])
def test_it_shows_its_progress_on_a_terminal_only(name: str, assert_rebuild_matches: Check) -> None:
    assert "operations: " in call(name, on_terminal=True).err
    assert call(name).err == ""
    assert_rebuild_matches()


def test_it_knows_its_apps() -> None:
    with pytest.raises(CommandError, match="invalid choice: 'nowhere'"):
        call("rebuild_projections", "--app", "nowhere")


def test_it_names_the_event_that_a_fold_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(row: object, event: object) -> None:
        raise KeyError("the exception quotes a posting")

    rules = next(table for table in list_tables("operations") if table.name == "job_list_projections").rules
    monkeypatch.setitem(rules, "JobDiscovered", replace(rules["JobDiscovered"], apply=refuse))
    event = JobEventRow.objects.filter(event_type="JobDiscovered").order_by("id")[0]
    with pytest.raises(CommandError, match=f"refuses event {event.pk:,} .job_list_projections:JobDiscovered:KeyError."):
        call("rebuild_projections")
    assert JobListProjection.objects.count() == 2
