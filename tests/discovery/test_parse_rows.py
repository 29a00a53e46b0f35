"""Whatever JSON a board sends, it is a malformed board, a posting, or a counted skip."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discovery.contracts import PayPeriod, SkippedPosting
from discovery.sources import ashby, greenhouse, lever
from discovery.sources.base import SOURCES, MalformedBoard, UnknownSource, check_board_token, get_source, name_company
from discovery.sources.rows import SkipReason

FIELDS = {
    "greenhouse": "id title absolute_url company_name location name offices departments metadata content first_published "
    "updated_at application_deadline language requisition_id pay_input_ranges min_cents max_cents title",
    "lever": "id text hostedUrl applyUrl categories location allLocations commitment team createdAt country workplaceType lists "
    "content descriptionPlain description additionalPlain salaryRange min max currency interval",
    "ashby": "id title jobUrl applyUrl location secondaryLocations isListed isRemote workplaceType address postalAddress "
    "addressCountry compensation summaryComponents compensationType minValue maxValue interval publishedAt descriptionHtml",
}
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from(
        ["https://a.example/1", "Salary", "Remote", "2026-10-01T00:00:00Z", "\ud800", "<p>&lt;", "1e999", 10**400]
    )
)


def arbitrary_json(kind: str) -> st.SearchStrategy[Any]:
    keys = st.sampled_from(FIELDS[kind].split())
    return st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=9), max_leaves=25
    )


@st.composite
def boards(draw: st.DrawFn) -> tuple[str, object]:
    kind = draw(st.sampled_from(sorted(FIELDS)))
    rows = draw(st.lists(arbitrary_json(kind), max_size=4))
    sound = {"id": "1", "title": "Dev", "text": "Dev"} | dict.fromkeys(
        ("absolute_url", "hostedUrl", "jobUrl"), "https://a.example/"
    )
    extra = draw(st.dictionaries(st.sampled_from(FIELDS[kind].split()), arbitrary_json(kind), max_size=8))
    rows.append({**extra, **sound} if draw(st.booleans()) else {**sound, **extra})
    return kind, rows if kind == "lever" else {"jobs": rows}


@given(boards())
def test_no_row_is_lost_and_none_raises(case: tuple[str, object]) -> None:
    kind, payload = case
    rows = payload["jobs"] if isinstance(payload, dict) else payload
    board = get_source(kind).parse_board(payload, board="acme")

    assert isinstance(rows, list)
    assert len(board.postings) + len(board.skipped) == len(rows)
    assert {row.reason for row in board.skipped} <= {reason.value for reason in SkipReason}
    for posting in board.postings:
        assert posting.external_id and posting.title and posting.url.startswith(("http", "HTTP"))
        repr(posting).encode()
        f"{posting.title}{posting.location}{posting.description}{posting.company}".encode()


@given(st.sampled_from(sorted(FIELDS)).flatmap(lambda kind: st.tuples(st.just(kind), arbitrary_json(kind))))
def test_a_payload_is_a_board_or_malformed(case: tuple[str, object]) -> None:
    kind, payload = case
    try:
        get_source(kind).parse_board(payload, board="acme")
    except MalformedBoard as error:
        assert "board is" in str(error)


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("greenhouse", {"status": 404}),
        ("greenhouse", []),
        ("lever", {"ok": False}),
        ("ashby", {"jobs": None}),
        ("ashby", ""),
    ],
)
def test_another_shape_is_a_malformed_board(kind: str, payload: object) -> None:
    with pytest.raises(MalformedBoard):
        get_source(kind).parse_board(payload, board="acme")


def test_an_empty_board_is_no_error() -> None:
    assert lever.parse_board([], board="acme").postings == ()
    with pytest.raises(MalformedBoard):
        greenhouse.parse_detail({"status": 404}, board="acme")


@pytest.mark.parametrize(
    ("row", "reason", "field"),
    [
        (7, "not_an_object", ""),
        ({"absolute_url": "https://a.example/", "title": "Dev"}, "missing_id", "id"),
        ({"absolute_url": "https://a.example/", "id": True, "title": "Dev"}, "missing_id", "id"),
        ({"absolute_url": "https://a.example/", "id": 1, "title": "  "}, "missing_title", "title"),
        ({"absolute_url": "https://a.example/", "id": 1, "title": "D" * 301}, "over_long", "title"),
        ({"id": 1, "title": "Dev"}, "missing_url", "absolute_url"),
        ({"absolute_url": "javascript:alert(1)", "id": 1, "title": "Dev"}, "bad_url", "absolute_url"),
        ({"absolute_url": "https://u:p@a.example/", "id": 1, "title": "Dev"}, "bad_url", "absolute_url"),
    ],
)
def test_a_bad_row_is_skipped_with_its_reason(row: object, reason: str, field: str) -> None:
    good = {"absolute_url": "https://a.example/2", "id": 2, "title": "R&amp;D Engineer"}
    board = greenhouse.parse_board({"jobs": [row, good]}, board="acme")
    assert board.skipped == (SkippedPosting(reason, field),)
    assert [posting.title for posting in board.postings] == ["R&D Engineer"]


def test_one_id_twice_is_one_job() -> None:
    row = {"id": "x", "text": "Dev", "hostedUrl": "https://a.example/x"}
    board = lever.parse_board([row, row], board="acme")
    assert len(board.postings) == 1
    assert board.skipped == (SkippedPosting("repeated_id", "id"),)


def test_a_mode_in_the_place_field_takes_the_office() -> None:
    row = {
        "id": 1,
        "title": "Dev",
        "absolute_url": "https://a.example/",
        "location": {"name": "Hybrid"},
        "offices": [{"name": "Austin"}],
    }
    posting = greenhouse.parse_board({"jobs": [row]}, board="acme").postings[0]
    assert (posting.location, posting.mode.value) == ("Austin", "hybrid")


def test_structured_pay_is_read_with_its_own_period() -> None:
    hourly = {"min": 24.5, "max": 28, "currency": "USD", "interval": "per-hour-wage"}
    row = {"id": "1", "text": "Lead", "hostedUrl": "https://a.example/", "salaryRange": hourly}
    salary = lever.parse_board([row], board="acme").postings[0].salary
    assert salary is not None and (str(salary.minimum), salary.period) == ("24.5", PayPeriod.HOUR)

    cents = {"min_cents": 9000000, "max_cents": 11000000, "currency_type": "USD", "title": "Annual salary range"}
    paid = {"id": 1, "title": "Dev", "absolute_url": "https://a.example/", "pay_input_ranges": [cents]}
    salary = greenhouse.parse_board({"jobs": [paid]}, board="acme").postings[0].salary
    assert salary is not None and (salary.minimum, salary.maximum) == (Decimal(90000), Decimal(110000))
    assert salary.period is PayPeriod.YEAR


def test_the_registry_knows_the_three_boards() -> None:
    assert set(SOURCES) == {"greenhouse", "lever", "ashby"}
    assert {source.family for source in SOURCES.values()} == {"ats"}
    assert get_source("ashby") is ashby.SOURCE
    with pytest.raises(UnknownSource, match="geocities"):
        get_source("geocities")


@pytest.mark.parametrize("token", ["", ".", "..", "a/b", "a b", "a\n", "é", "a?b", "%2e", "x" * 101])
def test_a_token_that_could_leave_its_path_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="board token"):
        check_board_token(token)
    with pytest.raises(ValueError, match="board token"):
        greenhouse.list_url(token)


def test_a_company_is_named_after_its_token() -> None:
    assert [name_company(token) for token in ("wealth-com", "HighlightTA", "acme", "-")] == [
        "Wealth Com",
        "HighlightTA",
        "Acme",
        "-",
    ]
