"""A run that cannot be found is never shown at work: lists, pages and figures say that nobody knows, and the way out."""

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from operations.contracts import Cohort, ExecutionRef, StageName, StageState, StepKind, WorkflowStart
from operations.job_states import map_lost_of
from operations.models import DiscoveryExecutionJob, JobListProjection
from operations.queries import count_lost_stages, map_lost_stages
from operations.services.runs import record_not_found, record_recovered, record_started
from operations.services.steps import start_step
from tests.operations.admin_pages import sign_in
from tests.operations.cast import FIRST_RUN, SECOND_RUN, Cast, ScriptedStage, claim, get_row

ENRICH = StageName.ENRICH
UNKNOWN = "Unknown: its run cannot be found"
DISCOVERY = ExecutionRef("local", "discover-local", "run-discovery")
Stages = dict[StageName, ScriptedStage]


@pytest.fixture
def operator(db: None) -> Client:
    return sign_in()


@pytest.fixture
def held(cast: Cast, stages: Stages) -> Cast:
    """A lost run holds the backend job, a live one the data job."""
    for owner in (FIRST_RUN, SECOND_RUN):
        record_started(WorkflowStart(owner.workflow_id, owner.run_id, "JobPreparationWorkflow", {}))
    claim(cast.backend, ENRICH)
    claim(cast.data, ENRICH, SECOND_RUN)
    record_not_found(FIRST_RUN.run_id, FIRST_RUN.workflow_id, "JobPreparationWorkflow", episode=1)
    return cast


def read(operator: Client, url: str) -> str:
    return operator.get(url).content.decode()


def test_the_list_shows_what_runs_and_what_cannot_be_known(operator: Client, held: Cast) -> None:
    page = read(operator, "/jobs/")
    assert page.count(UNKNOWN) == 1
    assert page.count("Reading the posting") == 1
    assert "Enrich unknown" in page
    assert "Enrich running" in page


def test_the_jobs_page_leads_out_of_it(operator: Client, held: Cast) -> None:
    url = f"/jobs/{held.backend}/"
    page = read(operator, url)
    assert UNKNOWN in page
    assert "Reading the posting" not in page
    assert "The run that worked on reading cannot be found" in page
    assert "Enrich unknown" in page
    assert "Enrich running" not in page

    asked = operator.post(f"{url}actions/", {"action": "release-stage", "stage": "enrich"})
    assert "Should its run come back" in asked.content.decode()
    assert get_row(held.backend, ENRICH).state == StageState.RUNNING
    done = operator.post(
        f"{url}actions/", {"action": "release-stage", "stage": "enrich", "confirmed": "yes"}, follow=True
    ).content.decode()
    assert "Release stage: 1 job." in done
    assert UNKNOWN not in done
    assert "Waits to be read" in done


def test_a_job_at_work_offers_no_release(operator: Client, held: Cast) -> None:
    assert "release-stage" not in read(operator, f"/jobs/{held.data}/")


def test_figures_do_not_count_it_as_running(operator: Client, held: Cast, capsys: pytest.CaptureFixture[str]) -> None:
    page = read(operator, "/")
    assert "1 running, 1 unknown, its run cannot be found" in page
    call_command("pipeline_status")
    assert "2 running, 1 of them held by a run that cannot be found" in capsys.readouterr().out


def test_it_is_shown_at_work_again_once_the_run_reappears(operator: Client, held: Cast) -> None:
    record_recovered(FIRST_RUN.run_id, FIRST_RUN.workflow_id, "JobPreparationWorkflow", episode=1)
    assert UNKNOWN not in read(operator, "/jobs/")
    assert UNKNOWN not in read(operator, f"/jobs/{held.backend}/")
    assert "unknown" not in read(operator, "/?fragment=body")


def test_a_lost_discovery_shows_neither_steps_nor_jobs_at_work(operator: Client, held: Cast) -> None:
    record_started(WorkflowStart(DISCOVERY.workflow_id, DISCOVERY.run_id, "DiscoverWorkflow", {}))
    start_step(DISCOVERY, StepKind.SOURCE_FAMILY, item_key="ats")
    for job_id in (held.backend, held.sales):
        DiscoveryExecutionJob.objects.create(
            workflow_id=DISCOVERY.workflow_id,
            run_id=DISCOVERY.run_id,
            job_id=job_id,
            cohort=Cohort.OBSERVED_THIS_RUN,
            linked_at=timezone.now(),
        )
    record_not_found(DISCOVERY.run_id, DISCOVERY.workflow_id, "DiscoverWorkflow", episode=1)

    page = read(operator, f"/runs/{DISCOVERY.run_id}/")

    assert "End unknown" in page
    assert UNKNOWN in page, "the step that had begun"
    assert "1 unknown, its run cannot be found" in page
    assert ">Running<" not in page
    assert count_lost_stages(DISCOVERY) == {"enrich": 1}, "the job outside of it is not counted"


def test_the_admin_does_not_say_that_a_lost_discovery_is_in_progress(operator: Client, db: None) -> None:
    from discovery.models import DiscoveryRun

    record_started(WorkflowStart(DISCOVERY.workflow_id, DISCOVERY.run_id, "DiscoverWorkflow", {}))
    DiscoveryRun.objects.create(
        run_id=DISCOVERY.run_id, workflow_id=DISCOVERY.workflow_id, started_at=timezone.now(), progress_total=4
    )
    assert "in_progress" in read(operator, "/admin/discovery/discoveryrun/")
    record_not_found(DISCOVERY.run_id, DISCOVERY.workflow_id, "DiscoverWorkflow", episode=1)
    page = read(operator, "/admin/discovery/discoveryrun/")
    assert "unknown: its run cannot be found" in page
    assert "in_progress" not in page


def test_it_asks_once_a_page_and_not_at_all_where_nothing_runs(
    held: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    jobs = list(JobListProjection.objects.all())
    with django_assert_num_queries(1):
        assert map_lost_of(jobs) == {held.backend: frozenset({"enrich"})}
    with django_assert_num_queries(0):
        assert map_lost_of(job for job in jobs if job.job_id in (held.sales, held.office)) == {}
    assert map_lost_stages([held.data]) == {}
