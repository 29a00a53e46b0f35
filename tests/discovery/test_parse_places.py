import pytest
from hypothesis import given
from hypothesis import strategies as st

from discovery.contracts import WorkMode
from discovery.places import fill_from_offices, find_country_code, read_place, read_workplace, split_mode

REMOTE, HYBRID, ONSITE, UNKNOWN = WorkMode.REMOTE, WorkMode.HYBRID, WorkMode.ONSITE, WorkMode.UNKNOWN


@pytest.mark.parametrize(
    ("raw", "location", "mode", "eligibility"),
    [
        ("Bangalore, India - Remote", "Bangalore, India", REMOTE, ""),
        ("Hybrid", "", HYBRID, ""),
        ("Remote", "", REMOTE, ""),
        ("Remote (US)", "", REMOTE, "US"),
        ("Remote, United States", "", REMOTE, "United States"),
        ("United States - Remote", "", REMOTE, "United States"),
        ("Remote EMEA", "", REMOTE, "EMEA"),
        ("Remote in Canada", "", REMOTE, "Canada"),
        ("Fully remote within the EU", "", REMOTE, "EU"),
        ("Austin, TX (Remote)", "Austin, TX", REMOTE, ""),
        ("Austin | Remote (US)", "Austin", REMOTE, "US"),
        ("New York or Remote", "New York", REMOTE, ""),
        ("London (Hybrid)", "London", HYBRID, ""),
        ("Hybrid remote in Austin, TX", "Austin, TX", HYBRID, ""),
        ("On-site, Prague", "Prague", ONSITE, ""),
        ("Not remote, Berlin", "Berlin", ONSITE, ""),
        ("東京都渋谷区（ハイブリッド）", "東京都渋谷区", HYBRID, ""),
        ("Washington, D.C.", "Washington, D.C.", UNKNOWN, ""),
        ("Remoteville", "Remoteville", UNKNOWN, ""),
        ("", "", UNKNOWN, ""),
    ],
)
def test_it_separates_place_mode_and_eligibility(raw: str, location: str, mode: WorkMode, eligibility: str) -> None:
    reading = read_place(raw)
    assert (reading.location, reading.mode, reading.eligibility) == (location, mode, eligibility)
    assert split_mode(raw) == (location, mode)


def test_a_list_of_places_keeps_its_wording_and_names_each() -> None:
    reading = read_place("Austin | Chicago | New York City")
    assert reading.location == "Austin | Chicago | New York City"
    assert reading.places == ("Austin", "Chicago", "New York City")


def test_an_office_is_the_place_where_the_field_held_a_mode() -> None:
    reading = fill_from_offices(read_place("Hybrid"), ("Austin",))
    assert (reading.location, reading.places, reading.mode) == ("Austin", ("Austin",), HYBRID)


def test_an_office_never_becomes_the_place_of_a_remote_posting() -> None:
    reading = fill_from_offices(read_place("Remote"), ("Austin",))
    assert (reading.location, reading.places, reading.eligibility) == ("", (), "")


def test_an_office_that_is_a_mode_speaks_where_the_location_does_not() -> None:
    reading = fill_from_offices(read_place("Bangalore, India"), ("Remote-India (PEO)",))
    assert (reading.location, reading.mode, reading.eligibility) == ("Bangalore, India", REMOTE, "India (PEO)")


def test_an_office_in_another_town_is_a_further_place() -> None:
    reading = fill_from_offices(read_place("London, UK"), ("London", "Berlin"))
    assert reading.places == ("London, UK", "Berlin")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Jamaica", "JM"),
        ("Isle of Man", "IM"),
        ("Eswatini", "SZ"),
        ("usa", "US"),
        ("Česko", "CZ"),
        ("CA", ""),
        ("Atlantis", ""),
    ],
)
def test_an_unknown_country_is_empty_not_an_error(name: str, code: str) -> None:
    assert find_country_code(name) == code


@pytest.mark.parametrize(
    ("value", "mode"),
    [
        ("OnSite", ONSITE),
        ("on-site", ONSITE),
        ("Hybrid", HYBRID),
        ("remote", REMOTE),
        ("unspecified", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_it_reads_a_boards_own_field(value: str, mode: WorkMode) -> None:
    assert read_workplace(value) is mode


@given(st.text(alphabet="Remotehybrid ()-,|/;USA Berlin\n", max_size=120))
def test_any_text_is_read(raw: str) -> None:
    reading = read_place(raw)
    assert all(reading.places)
    assert reading.eligibility == "" or reading.mode is not UNKNOWN
