from collections.abc import Callable

import pytest

from discovery.models import SourceRegistryEntry
from discovery.services.sources import (
    SourceRefused,
    record_source_state,
    register_bundled_sources,
    register_source,
    set_source_enabled,
)
from discovery.sources.bundled import list_bundled_boards
from tests.discovery.cast import list_events

pytestmark = pytest.mark.django_db

Check = Callable[[], None]


def test_it_registers_a_board_once(assert_rebuild_matches: Check) -> None:
    first = register_source("lever", "harbor-lane", label="Harbor Lane")
    again = register_source("lever", "harbor-lane", label="Another label")

    assert first == again == "lever:harbor-lane"
    entry = SourceRegistryEntry.objects.get()
    assert (entry.kind, entry.board, entry.family, entry.label) == ("lever", "harbor-lane", "ats", "Harbor Lane")
    assert (entry.enabled, entry.state) == (True, "new")
    assert [event["sourceId"] for event in list_events("SourceRegistryEntryCreated")] == ["lever:harbor-lane"]
    assert_rebuild_matches()


def test_it_registers_the_bundled_boards_as_a_family_of_their_own(assert_rebuild_matches: Check) -> None:
    register_source("greenhouse", "fernhill")
    added = register_bundled_sources()

    assert added == register_bundled_sources()
    assert len(added) == len(list_bundled_boards())
    assert "bundled:greenhouse-fernhill" in added
    assert SourceRegistryEntry.objects.filter(family="bundled").count() == len(added)
    assert SourceRegistryEntry.objects.count() == len(added) + 1
    assert_rebuild_matches()


@pytest.mark.parametrize(
    ("kind", "board", "base_url", "reason"),
    [
        ("workable", "acme", "", "kind: no source of kind 'workable'; known are ashby, greenhouse, lever"),
        ("lever", "", "", "board: the board token is empty"),
        ("lever", "..", "", "board: the board token may not be a dot segment"),
        ("lever", "a/b", "", "board: the board token may hold only"),
        ("lever", "a" * 101, "", "board: the board token is longer than 100 characters"),
        ("lever", "acme", "ftp://example.com", "base_url: it must start with https:// or http://"),
        ("lever", "acme", "https://", "base_url: the address has no host"),
        ("lever", "acme", "https://user:secret@example.com", "base_url: the address carries a user name"),
        ("lever", "acme", "https://example.com/\x00", "base_url: the address holds control characters"),
        ("lever", "acme", "https://example.com/" + "a" * 400, "base_url: it is longer than 400 characters"),
    ],
)
def test_it_refuses_what_is_no_board_and_says_why(
    kind: str, board: str, base_url: str, reason: str, assert_rebuild_matches: Check
) -> None:
    with pytest.raises(SourceRefused) as refused:
        register_source(kind, board, base_url=base_url)

    assert refused.value.message.startswith(reason)
    assert "secret" not in refused.value.message
    assert not SourceRegistryEntry.objects.exists()
    assert_rebuild_matches()


def test_it_bounds_a_label(assert_rebuild_matches: Check) -> None:
    register_source("lever", "acme", label="Acme\x00 " + "x" * 500)

    label = SourceRegistryEntry.objects.get().label
    assert label.startswith("Acme x") and len(label) == 120
    assert_rebuild_matches()


def test_it_tells_only_of_a_state_that_changed(assert_rebuild_matches: Check) -> None:
    source_id = register_source("lever", "acme")

    for state, code in [("succeeded", ""), ("succeeded", ""), ("failed", "NOT_FOUND"), ("failed", "NOT_FOUND")]:
        record_source_state(source_id, state=state, error_code=code)
    record_source_state(source_id, state="failed", error_code="RATE_LIMITED")

    changes = [
        (event["fromState"], event["toState"], event["errorCode"]) for event in list_events("SourceStateChanged")
    ]
    assert changes == [
        ("new", "succeeded", ""),
        ("succeeded", "failed", "NOT_FOUND"),
        ("failed", "failed", "RATE_LIMITED"),
    ]
    assert_rebuild_matches()


def test_it_disables_and_enables_a_source(assert_rebuild_matches: Check) -> None:
    source_id = register_source("lever", "acme")

    set_source_enabled(source_id, enabled=False)
    assert not SourceRegistryEntry.objects.get().enabled
    set_source_enabled(source_id, enabled=True)
    assert SourceRegistryEntry.objects.get().enabled
    assert_rebuild_matches()
