import re
from collections import Counter
from datetime import UTC, datetime

import pytest

from discovery.contracts import ParsedBoard, Posting
from discovery.identity import company_key, description_hash
from discovery.pages.notices import match_notice
from discovery.salary import find_salary
from discovery.sources.base import get_source
from discovery.sources.bundled import BundledBoard, find_bundled_board, list_bundled_boards, read_bundled_board

BOARDS = list_bundled_boards()


def parse(board: BundledBoard) -> ParsedBoard:
    return get_source(board.kind).parse_board(read_bundled_board(board), board=board.board)


def list_postings() -> list[Posting]:
    return [posting for board in BOARDS for posting in parse(board).postings]


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: f"{board.kind}-{board.board}")
def test_every_board_reads_through_the_parser_of_its_kind(board: BundledBoard) -> None:
    parsed = parse(board)
    assert len(parsed.postings) >= 2
    assert {posting.company for posting in parsed.postings} == {board.company}
    assert find_bundled_board(board.kind, board.board) == board


def test_the_folder_holds_what_the_index_names() -> None:
    assert {board.path.name for board in BOARDS} == {path.name for path in BOARDS[0].path.parent.glob("*-*.json")}


def test_every_posting_is_complete_enough_to_prepare() -> None:
    for posting in list_postings():
        assert 250 <= len(posting.description.split()) <= 500, posting.title
        assert posting.posted_at is not None and posting.posted_at.year == 2026
        assert posting.apply_url and re.match(r"https://[a-z]+\.example\.(com|org)/", posting.url)
        assert posting.location or posting.remote_eligibility
        assert "\ufffd" not in posting.description and "&lt;" not in posting.description


def test_bad_draft_and_repeated_rows_are_counted() -> None:
    skipped = Counter(row.reason for board in BOARDS for row in parse(board).skipped)
    assert skipped == {"missing_title": 2, "unlisted": 1, "repeated_id": 1}


def test_one_body_stands_on_two_boards_of_one_company() -> None:
    by_hash: dict[str, list[Posting]] = {}
    for posting in list_postings():
        by_hash.setdefault(description_hash(posting.description), []).append(posting)
    copies = [group for group in by_hash.values() if len(group) > 1]
    assert [[posting.kind for posting in group] for group in copies] == [["greenhouse", "lever"]]
    assert len({company_key(posting.company) for posting in copies[0]}) == 1


def test_some_are_closed_and_one_says_so_only_in_words() -> None:
    now = datetime(2026, 11, 15, tzinfo=UTC)
    postings = list_postings()
    assert [posting.title for posting in postings if posting.closes_at and posting.closes_at < now] == [
        "Full Stack Engineer, Onboarding & Imports"
    ]
    assert sum("no longer accepting applications" in posting.description for posting in postings) == 1
    assert [posting.title for posting in postings if any(map(match_notice, posting.description.splitlines()))] == [
        "Senior Backend Engineer, Routing"
    ]


def test_pay_comes_in_many_shapes() -> None:
    stated = [posting.salary or find_salary(posting.description) for posting in list_postings()]
    kinds = {(salary.currency, salary.period.value) for salary in stated if salary is not None}
    assert kinds == {
        ("USD", "year"), ("USD", "hour"), ("CAD", "year"), ("GBP", "year"), ("EUR", "year"),
        ("CZK", "month"), ("JPY", "year"), ("JPY", "month"),
    }  # fmt: skip
    assert None in stated


def test_an_instruction_in_a_posting_is_only_text() -> None:
    assert sum("ignore previous instructions" in posting.description.casefold() for posting in list_postings()) == 1
