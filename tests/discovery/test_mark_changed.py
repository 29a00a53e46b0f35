"""A posting that changes is read and scored again; what was written from it stays in use until then."""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import pytest

from discovery.services.profiles import import_profile
from operations.contracts import StageName
from operations.queries import find_stage_state
from tests.discovery.cast import BACKEND, FIRST_RUN, SECOND_RUN, accept, add_job, list_events, work
from tests.discovery.cast import DUTIES as FIRST_TEXT

pytestmark = pytest.mark.django_db


@pytest.fixture
def scored_job(settings: object) -> UUID:
    import_profile((settings.BASE_DIR / "discovery" / "sample_profile.json").read_bytes())  # type: ignore[attr-defined]
    job_id = add_job()
    for stage in ("enrich", "score"):
        assert work(job_id, stage, ref=FIRST_RUN).state == "succeeded"
    return job_id


def read_states(job_id: UUID) -> list[str | None]:
    return [find_stage_state(job_id, stage) for stage in (StageName.ENRICH, StageName.SCORE)]


def test_it_reads_and_scores_again_what_says_something_else(
    scored_job: UUID, assert_rebuild_matches: Callable[[], None]
) -> None:
    changed = replace(BACKEND, description=FIRST_TEXT.replace("Kafka", "RabbitMQ"))

    accept(changed, ref=SECOND_RUN)

    assert read_states(scored_job) == ["stale", "stale"]
    assert work(scored_job, "enrich", run="run-2").state == "succeeded"
    assert work(scored_job, "score", run="run-2").state == "succeeded"
    assert [event["version"] for event in list_events("JobScored")] == [1, 2]
    assert_rebuild_matches()


def test_it_leaves_alone_what_only_moved_or_was_paid_better(
    scored_job: UUID, assert_rebuild_matches: Callable[[], None]
) -> None:
    accept(replace(BACKEND, location="Boston", places=("Boston",)), ref=SECOND_RUN)

    assert read_states(scored_job) == ["succeeded", "succeeded"]
    assert_rebuild_matches()


def test_it_does_not_use_up_attempts_over_many_changes(
    scored_job: UUID, assert_rebuild_matches: Callable[[], None]
) -> None:
    for number in range(7):
        accept(replace(BACKEND, description=f"Edition {number}. {FIRST_TEXT}"), ref=SECOND_RUN)
        assert work(scored_job, "enrich", run=f"run-{number}").state == "succeeded"
        assert work(scored_job, "score", run=f"run-{number}").state == "succeeded"
    assert_rebuild_matches()
