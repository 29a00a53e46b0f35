from collections.abc import Callable

import pytest
from django.core.management.base import CommandError

from discovery.models import SourceRegistryEntry
from discovery.sources.bundled import list_bundled_boards
from tests.commands.calling import call

pytestmark = pytest.mark.django_db

Check = Callable[[], None]


def test_it_prints_the_id_of_the_board_it_added(assert_rebuild_matches: Check) -> None:
    printed = call("add_source", "greenhouse", "fernhill", "--label", "Fernhill")

    assert printed.out == "greenhouse:fernhill\n"
    assert call("add_source", "greenhouse", "fernhill").out == "greenhouse:fernhill\n"
    assert SourceRegistryEntry.objects.get().label == "Fernhill"
    assert_rebuild_matches()


def test_it_takes_a_self_hosted_board(assert_rebuild_matches: Check) -> None:
    call("add_source", "lever", "acme", "--base-url", "https://jobs.example.com/")

    assert SourceRegistryEntry.objects.get().base_url == "https://jobs.example.com"
    assert_rebuild_matches()


def test_it_adds_the_bundled_boards(assert_rebuild_matches: Check) -> None:
    printed = call("add_source", "bundled")

    assert len(printed.out.splitlines()) == len(list_bundled_boards()) == SourceRegistryEntry.objects.count()
    assert_rebuild_matches()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lever"], "board: the board token is empty"),
        (["lever", "../etc"], "board: the board token may hold only"),
        (["lever", "acme", "--base-url", "javascript:alert(1)"], "base_url: it must start with"),
        (["monster", "acme"], "invalid choice: 'monster'"),
    ],
)
def test_it_says_which_field_is_wrong(arguments: list[str], message: str, assert_rebuild_matches: Check) -> None:
    with pytest.raises(CommandError) as refused:
        call("add_source", *arguments)

    assert message in str(refused.value)
    assert not SourceRegistryEntry.objects.exists()
    assert_rebuild_matches()
