"""Changing the threshold changes what was scored before, and only what lies between the two."""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import pytest

from discovery.services.profiles import import_profile
from operations.contracts import StageName
from operations.queries import find_stage_state
from operations.settings_store import change_settings
from scoring.queries import find_score_value
from scoring.reconcilers import apply_threshold
from tests.discovery.cast import BACKEND, DUTIES, add_job, read_log_head, work
from tests.materials.candidate import SAMPLE

pytestmark = pytest.mark.django_db

UNMET = "Requirements\nStrong knowledge of COBOL.\n7+ years of experience with SAP ABAP.\nExperience with Haskell.\n"


@pytest.fixture
def scored_job() -> UUID:
    import_profile(SAMPLE.read_bytes())
    apply_threshold()
    job_id = add_job(replace(BACKEND, description=DUTIES + UNMET))
    for stage in ("enrich", "score"):
        assert work(job_id, stage).state == "succeeded"
    return job_id


def read_later(job_id: UUID) -> list[str | None]:
    return [find_stage_state(job_id, stage) for stage in (StageName.TAILOR, StageName.COVER, StageName.APPLY)]


def test_it_holds_and_releases_with_the_threshold(scored_job: UUID, assert_rebuild_matches: Callable[[], None]) -> None:
    value = find_score_value(scored_job)
    assert value is not None and value < 10

    change_settings({"min_fit_score": value + 1}, actor="operator")
    assert apply_threshold() == 3
    assert read_later(scored_job) == ["skipped", "skipped", "skipped"]

    change_settings({"min_fit_score": value}, actor="operator")
    assert apply_threshold() == 3
    assert read_later(scored_job) == ["pending", "blocked", "blocked"]
    assert_rebuild_matches()


def test_it_changes_nothing_twice(scored_job: UUID, assert_rebuild_matches: Callable[[], None]) -> None:
    change_settings({"min_fit_score": 10}, actor="operator")
    apply_threshold()
    head = read_log_head()

    assert apply_threshold() == 0
    assert read_log_head() == head
    assert_rebuild_matches()
