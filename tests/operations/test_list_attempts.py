"""Every attempt at a stage on the job's page: when, how long, and how it ended, in words."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.test import Client

from operations.attempts import fold_attempts, list_attempts
from operations.contracts import StageName, WorkflowStart
from operations.errors import StageFailure, TransientStageFailure
from operations.services.releasing import release_stages
from operations.services.runs import record_not_found, record_started
from operations.services.stages import reset_stages
from operations.stage_engine import Owner, StageContext, work_job
from operations.wording import Tone
from tests.operations.admin_pages import sign_in
from tests.operations.cast import FIRST_RUN, PROFILE_VERSION, SECOND_RUN, Cast, ScriptedStage, claim

ENRICH = StageName.ENRICH
START = datetime(2026, 10, 1, 8, tzinfo=UTC)
Stages = dict[StageName, ScriptedStage]


def work(job_id: Any, owner: Owner) -> None:
    work_job(job_id, ENRICH, StageContext(owner, PROFILE_VERSION))


def read_words(job_id: Any) -> list[tuple[int, str, str]]:
    return [(one.number, one.run_id, one.outcome.word) for one in list_attempts(job_id)[ENRICH]]


def test_it_lists_each_attempt_newest_first(cast: Cast, stages: Stages) -> None:
    stages[ENRICH].script = [
        TransientStageFailure("The site asked us to wait.", code="RATE_LIMITED"),
        StageFailure("No text.", code="NO_CONTENT"),
    ]
    work(cast.backend, FIRST_RUN)
    work(cast.backend, SECOND_RUN)
    reset_stages(ENRICH, [cast.backend])
    work(cast.backend, SECOND_RUN)

    assert read_words(cast.backend) == [
        (1, "run-second", "Done"),
        (2, "run-second", "Failed: the posting has no readable text"),
        (1, "run-first", "Failed: the site asks us to slow down"),
    ]
    assert "score" not in list_attempts(cast.backend) or list_attempts(cast.backend)["score"] == []


def test_the_page_shows_them_with_their_time_length_and_run(cast: Cast, stages: Stages) -> None:
    operator: Client = sign_in()
    stages[ENRICH].script = [TransientStageFailure("The site asked us to wait.", code="RATE_LIMITED")]
    work(cast.backend, FIRST_RUN)
    first = operator.get(f"/jobs/{cast.backend}/").content.decode()
    assert "1 attempt<" in first
    work(cast.backend, SECOND_RUN)
    page = operator.get(f"/jobs/{cast.backend}/").content.decode()
    listed = page.split('id="attempts-enrich"')[1].split("</details>")[0]
    assert "2 attempts" in listed
    assert listed.index("Done") < listed.index("Failed: the site asks us to slow down")
    assert "The site asked us to wait." in listed
    assert listed.count("took") == 2
    assert 'href="/runs/run-first/"' in listed


def test_a_single_attempt_that_succeeded_is_said_by_its_line_alone(cast: Cast, stages: Stages) -> None:
    work(cast.backend, FIRST_RUN)
    assert "attempts-enrich" not in sign_in().get(f"/jobs/{cast.backend}/").content.decode()


def test_an_attempt_of_a_dead_worker_broke_off(cast: Cast, stages: Stages) -> None:
    claim(cast.backend, ENRICH)
    claim(cast.backend, ENRICH, Owner(FIRST_RUN.workflow_id, FIRST_RUN.run_id, 2))
    assert read_words(cast.backend) == [(2, "run-first", "Running"), (1, "run-first", "Broke off")]


def test_an_attempt_whose_run_cannot_be_found_is_unknown_until_it_is_released(cast: Cast, stages: Stages) -> None:
    record_started(WorkflowStart(FIRST_RUN.workflow_id, FIRST_RUN.run_id, "JobPreparationWorkflow", {}))
    claim(cast.backend, ENRICH)
    record_not_found(FIRST_RUN.run_id, FIRST_RUN.workflow_id, "JobPreparationWorkflow", episode=1)
    (one,) = list_attempts(cast.backend, lost={"enrich"})[ENRICH]
    assert (one.outcome.tone, one.took) == (Tone.UNKNOWN, None)
    release_stages(ENRICH, [cast.backend], actor="mara")
    assert read_words(cast.backend) == [(1, "run-first", "Broke off")]


def test_it_measures_from_the_beginning_to_the_end() -> None:
    events: list[tuple[str, datetime, dict[str, Any]]] = [
        ("StageSkipped", START, {"stage": "score"}),
        ("StageStarted", START, {"stage": "score", "attempt": 1, "runId": "r"}),
        ("StageCanceled", START + timedelta(seconds=75), {"stage": "score"}),
        ("StageReset", START + timedelta(seconds=90), {"stage": "score", "reasonCode": "operator"}),
    ]
    (one,) = fold_attempts(events)["score"]
    assert (one.outcome.word, one.took) == ("Canceled", timedelta(seconds=75))
