"""One stage over many jobs, one of which makes its app raise or belongs to somebody else."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from django.db import OperationalError
from temporalio.exceptions import ApplicationError

from operations.contracts import StageName, StageState
from tests.operations.cast import Cast, ScriptedStage, claim, get_row
from tests.operations.test_settle_attempts import DEAD, enrich

ENRICH = StageName.ENRICH
Stages = dict[StageName, ScriptedStage]
Check = Callable[[], None]


@pytest.mark.parametrize("hook", ["find_refusal", "find_result_version", "publish"])
def test_one_job_that_makes_its_app_raise_never_stops_its_peers(
    hook: str, cast: Cast, stages: Stages, monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Check
) -> None:
    real = getattr(stages[ENRICH], hook)

    def raise_for_one(subject: object, *rest: object, **named: object) -> object:
        if getattr(subject, "job_id", subject) == cast.backend:
            raise LookupError("the posting's own words")
        return real(subject, *rest, **named)

    monkeypatch.setattr(stages[ENRICH], hook, raise_for_one)
    report = enrich(attempt=3)

    assert report.counts == {StageState.FAILED: 1, StageState.SUCCEEDED: 3}
    assert [(failure.job_id, failure.code) for failure in report.failures] == [(str(cast.backend), "INTERNAL_ERROR")]
    assert get_row(cast.backend, ENRICH).state != StageState.RUNNING
    assert_rebuild_matches()


def test_an_apps_own_record_of_a_failure_that_raises_never_stops_it_either(
    cast: Cast, stages: Stages, monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Check
) -> None:
    def raise_always(*_: object, **__: object) -> None:
        raise LookupError

    stages[ENRICH].script = [ValueError("late")]
    monkeypatch.setattr(stages[ENRICH], "record_failure", raise_always)
    report = enrich(attempt=3)

    assert report.counts == {StageState.FAILED: 1, StageState.SUCCEEDED: 3}
    assert get_row(cast.backend, ENRICH).error_code == "INTERNAL_ERROR"
    assert_rebuild_matches()


def test_it_tries_again_what_could_not_even_be_asked_for(
    cast: Cast, stages: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_always(*_: object, **__: object) -> None:
        raise LookupError

    monkeypatch.setattr(stages[ENRICH], "find_refusal", raise_always)
    with pytest.raises(ApplicationError, match="4 jobs failed in enrich and will be tried again"):
        enrich(attempt=1)
    assert get_row(cast.backend, ENRICH).attempts == 0


def test_a_chosen_job_that_another_run_has_is_skipped(
    cast: Cast, stages: Stages, assert_rebuild_matches: Check
) -> None:
    claim(cast.backend, ENRICH, replace(DEAD, run_id="run-other"))
    claim(cast.data, ENRICH, replace(DEAD, attempt=3))
    report = enrich(attempt=1, job_ids=tuple(map(str, cast)))
    assert report.counts == {StageState.SKIPPED: 2, StageState.SUCCEEDED: 2}
    assert report.failures == ()
    assert_rebuild_matches()


def test_a_database_that_is_gone_is_no_jobs_failure(
    cast: Cast, stages: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose_it(*_: object, **__: object) -> None:
        raise OperationalError

    monkeypatch.setattr(stages[ENRICH], "find_refusal", lose_it)
    with pytest.raises(OperationalError):
        enrich(attempt=3)
