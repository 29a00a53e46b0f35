"""Real payloads read to exactly what their index says of them."""

import json
import re
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest

from discovery.contracts import ParsedBoard, PayPeriod, Posting, WorkMode
from discovery.places import read_place
from discovery.sources import ashby, greenhouse, lever
from discovery.sources.base import get_source

SHARED = Path(__file__).resolve().parents[3] / "shared"
DATA = SHARED / "data"
FILES = (
    "greenhouse/amplitude-content",
    "greenhouse/gong-detail",
    "greenhouse/gong-list",
    "lever/idealist",
    "lever/jumpcloud",
    "lever/palantir",
    "ashby/highlightta",
    "ashby/mts-sf",
    "ashby/wealth-com",
)
pytestmark = pytest.mark.skipif(
    not (DATA / "INDEX.md").exists(), reason="the shared payloads are not beside this checkout"
)

_PAIR = re.compile(r'(\w+)=(`[^`]*`|"(?:[^"\\]|\\.)*"|\[[^\]]*\]|[^;]+)')


@cache
def parse_file(name: str) -> ParsedBoard:
    payload = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    if name.endswith("-detail"):
        return greenhouse.parse_detail(payload, board="gongio")
    return get_source(name.partition("/")[0]).parse_board(payload, board="board")


def list_expectations(name: str) -> list[dict[str, str]]:
    index = (DATA / "INDEX.md").read_text(encoding="utf-8")
    section = index.partition(f"### `{name}.json`")[2].partition("\n###")[0].partition("\n## ")[0]
    return [
        {key: value.strip().strip("`") for key, value in _PAIR.findall(line)}
        for line in section.splitlines()
        if line.startswith("- expect:")
    ]


def read_iso(value: str) -> datetime:
    return datetime.fromisoformat(value.split(" ")[0]).astimezone(UTC)


def find_posting(name: str, external_id: str) -> Posting:
    return next(posting for posting in parse_file(name).postings if posting.external_id == external_id)


CASES = [
    pytest.param(name, expected, id=f"{name}:{expected['id'][:12]}")
    for name in FILES
    for expected in (list_expectations(name) if (DATA / "INDEX.md").exists() else [])
]


@pytest.mark.parametrize(("name", "expected"), CASES)
def test_a_posting_reads_as_its_index_says(name: str, expected: dict[str, str]) -> None:
    posting = find_posting(name, expected["id"])

    assert posting.title == expected["title"]
    assert posting.url == expected["url"]
    assert posting.posted_at == read_iso(expected["posted"])
    if "company" in expected:
        assert posting.company == expected["company"]
    if "updated" in expected:
        assert posting.updated_at == read_iso(expected["updated"])
    if "apply" in expected:
        assert posting.apply_url == expected["apply"]
    if "language" in expected:
        assert posting.language == expected["language"]
    if "country" in expected:
        assert posting.country == expected["country"]
    for key in ("commitment", "type"):
        if key in expected:
            assert posting.employment_type == expected[key]
    if "description_starts" in expected:
        start = json.loads(text) if (text := expected["description_starts"]).startswith('"') else text
        assert " ".join(posting.description.split()).startswith(start.strip())


@pytest.mark.parametrize(("name", "expected"), CASES)
def test_place_and_mode_are_told_apart(name: str, expected: dict[str, str]) -> None:
    posting = find_posting(name, expected["id"])
    reading = read_place(expected["location"])

    assert posting.location == reading.location
    assert set(reading.places) <= set(posting.places)
    if reading.mode is WorkMode.UNKNOWN:
        assert posting.location == expected["location"]
    if reading.eligibility:
        assert posting.remote_eligibility == reading.eligibility
    if "workplace" in expected:
        assert posting.mode.value == expected["workplace"].casefold()
    for key in ("secondary", "all_locations", "offices"):
        for place in json.loads(expected.get(key, "[]")):
            named = read_place(place).location
            assert not named or any(known.startswith(named) for known in posting.places)


@pytest.mark.parametrize(("name", "expected"), CASES)
def test_pay_is_what_the_payload_states(name: str, expected: dict[str, str]) -> None:
    salary = find_posting(name, expected["id"]).salary
    if expected["salary"] == "null":
        assert salary is None
        return
    stated = re.fullmatch(r"(\d+)-(\d+) (\w+) per 1 (\w+)", expected["salary"])
    assert stated is not None and salary is not None
    assert (salary.minimum, salary.maximum) == (Decimal(stated[1]), Decimal(stated[2]))
    assert (salary.currency, salary.period) == (stated[3], PayPeriod(stated[4].lower()))


def test_every_expected_posting_was_tried() -> None:
    assert len(CASES) == 19


def test_an_unlisted_row_is_counted_and_dropped() -> None:
    board = parse_file("ashby/wealth-com")
    assert [(row.reason, row.field) for row in board.skipped] == [("unlisted", "isListed")]
    assert "unlisted-draft-0001" not in {posting.external_id for posting in board.postings}


def test_workplace_type_speaks_before_is_remote() -> None:
    assert find_posting("ashby/highlightta", "fc2f1f85-46a0-4a31-b165-683e39c07c04").mode is WorkMode.HYBRID
    assert find_posting("ashby/wealth-com", "nocomp-0002").mode is WorkMode.REMOTE


def test_remote_of_one_country_is_eligibility_and_no_office() -> None:
    posting = find_posting("ashby/wealth-com", "fcd184e8-d7c9-4c58-b5f5-56b7ee5c80ac")
    assert (posting.location, posting.places, posting.remote_eligibility) == ("", (), "United States")


def test_a_lever_description_is_opening_lists_and_closing() -> None:
    text = find_posting("lever/idealist", "a24ec4e5-5caa-473d-abd4-b71f09a8167b").description
    opening, lists, closing = (
        text.index("This is a part-time contracted 1099 position."),
        text.index("How You'll Contribute\n- Guide full project life cycle"),
        text.index("Contractor hourly rates are set based on experience"),
    )
    assert opening < lists < closing


def test_a_list_without_content_has_no_description() -> None:
    assert {posting.description for posting in parse_file("greenhouse/gong-list").postings} == {""}


def test_doubly_escaped_content_becomes_plain_text() -> None:
    for name in ("greenhouse/amplitude-content", "greenhouse/gong-detail"):
        for posting in parse_file(name).postings:
            assert not re.search(r"&[a-z]+;|</?[a-z]+>|\u00a0", posting.description)
    assert "Education & learning stipend." in parse_file("greenhouse/gong-detail").postings[0].description


def test_list_addresses_are_those_of_the_public_apis() -> None:
    assert greenhouse.list_url("acme") == "https://boards-api.greenhouse.io/v1/boards/acme/jobs?content=true"
    assert greenhouse.detail_url("acme", "12") == "https://boards-api.greenhouse.io/v1/boards/acme/jobs/12"
    assert lever.list_url("acme", base_url="http://127.0.0.1:9/") == "http://127.0.0.1:9/v0/postings/acme?mode=json"
    assert ashby.list_url("Acme") == "https://api.ashbyhq.com/posting-api/job-board/Acme?includeCompensation=true"
