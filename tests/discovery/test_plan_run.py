from collections.abc import Callable

import pytest

from discovery.contracts import DiscoveryEnd
from discovery.models import DiscoveryRun, DiscoveryRunSource
from discovery.services.runs import (
    SPINE_STEPS,
    advance_progress,
    count_family_done,
    end_run,
    list_open_sources,
    plan_run,
)
from discovery.services.sources import register_bundled_sources, register_source, set_source_enabled
from operations.errors import NotConfigured
from operations.models import StoredSetting
from operations.settings_store import change_settings
from tests.discovery.cast import FIRST_RUN, SECOND_RUN, list_events, read_log_head

pytestmark = pytest.mark.django_db

Check = Callable[[], None]


def read_progress() -> tuple[int, int]:
    run = DiscoveryRun.objects.get()
    return run.progress_done, run.progress_total


def test_it_names_the_remedy_where_no_source_is_enabled(assert_rebuild_matches: Check) -> None:
    set_source_enabled(register_source("lever", "acme"), enabled=False)

    with pytest.raises(NotConfigured, match=r"No source is enabled. Add one with: manage.py add_source KIND BOARD"):
        plan_run(FIRST_RUN)

    assert not DiscoveryRun.objects.exists()
    assert list_events("DiscoveryRunStarted", "PipelineStepQueued") == []
    assert_rebuild_matches()


def test_it_freezes_the_families_with_their_enabled_sources(assert_rebuild_matches: Check) -> None:
    register_bundled_sources()
    register_source("lever", "acme")
    register_source("ashby", "acme")
    set_source_enabled(register_source("greenhouse", "acme"), enabled=False)

    plan = plan_run(FIRST_RUN)

    assert plan.families == ("ats", "bundled")
    assert list_open_sources(FIRST_RUN, "ats") == ["ashby:acme", "lever:acme"]
    assert read_progress() == (0, 2 + SPINE_STEPS)
    [started] = list_events("DiscoveryRunStarted")
    assert (started["families"], started["sources"]) == (["ats", "bundled"], 9)
    assert [step["itemKey"] for step in list_events("PipelineStepQueued")] == ["ats", "bundled"]
    assert_rebuild_matches()


def test_it_gives_the_same_plan_again_whatever_was_changed_meanwhile(assert_rebuild_matches: Check) -> None:
    source_id = register_source("lever", "acme")
    first = plan_run(FIRST_RUN)
    head = read_log_head()

    assert plan_run(FIRST_RUN) == first
    assert read_log_head() == head

    set_source_enabled(source_id, enabled=False)
    assert plan_run(FIRST_RUN) == first
    register_bundled_sources()
    assert plan_run(FIRST_RUN) == first

    assert list_open_sources(FIRST_RUN, "ats") == ["lever:acme"]
    assert DiscoveryRunSource.objects.count() == 1
    assert len(list_events("DiscoveryRunStarted")) == len(list_events("PipelineStepQueued")) == 1
    assert plan_run(SECOND_RUN).families == ("bundled",)
    assert_rebuild_matches()


def test_it_plans_only_the_families_asked_for(assert_rebuild_matches: Check) -> None:
    register_bundled_sources()
    register_source("lever", "acme")

    assert plan_run(FIRST_RUN, families=["ats"]).families == ("ats",)
    with pytest.raises(NotConfigured):
        plan_run(SECOND_RUN, families=["nowhere"])
    assert_rebuild_matches()


@pytest.mark.parametrize(
    ("wanted", "slots", "parallel"),
    [(None, 4, 1), (4, 4, 2), (99, 20, 4), (4, 1, 1), (2, 20, 2)],
    ids=["unset", "4 of 4 slots", "99 of 20 slots", "one slot", "2 of 20 slots"],
)
def test_it_leaves_two_slots_for_enrichment_and_preparation(
    wanted: int | None, slots: int, parallel: int, assert_rebuild_matches: Check
) -> None:
    register_source("lever", "acme")
    change_settings({"worker_activity_slots": slots}, actor="test")
    if wanted is not None:
        StoredSetting.objects.create(key="max_parallel_families", value=wanted)

    assert plan_run(FIRST_RUN).parallel == parallel
    assert_rebuild_matches()


def test_it_moves_the_progress_forward_only(assert_rebuild_matches: Check) -> None:
    register_bundled_sources()
    register_source("lever", "acme")
    plan_run(FIRST_RUN)

    seen = []
    for _ in range(3):  # one more than there are families
        count_family_done(FIRST_RUN)
        seen.append(read_progress()[0])
    for remaining in (1, 0, 1):
        advance_progress(FIRST_RUN, remaining=remaining)
        seen.append(read_progress()[0])

    assert seen == [1, 2, 2, 3, 4, 4]
    assert_rebuild_matches()


def test_it_records_the_end_once(assert_rebuild_matches: Check) -> None:
    register_source("lever", "acme")
    plan_run(FIRST_RUN)

    end_run(DiscoveryEnd(FIRST_RUN, "", {"new": 3}))
    end_run(DiscoveryEnd(FIRST_RUN, "source_unavailable", {}))

    run = DiscoveryRun.objects.get()
    assert (run.status, run.error_code, run.counts) == ("succeeded", "", {"new": 3})
    assert list_events("DiscoveryRunCompleted")[0]["counts"] == {"new": 3}
    assert list_events("DiscoveryRunFailed") == []
    assert_rebuild_matches()
