import json
from collections.abc import Callable
from typing import Any

import pytest

from discovery.models import CandidateProfile
from discovery.profile_import import ProfileRefused
from discovery.queries import find_newest_profile_version, get_newest_profile_version, get_profile
from discovery.services.profiles import import_profile
from operations.errors import MissingInput
from operations.models import JobStageState
from tests.discovery.cast import add_job, list_event_types, list_events, require_shared

pytestmark = pytest.mark.django_db

Check = Callable[[], None]


def make_resume(**basics: Any) -> dict[str, Any]:
    return {
        "basics": {"name": "Mara Lindqvist", "email": "mara@example.com", **basics},
        "work": [
            {
                "name": "Northwind Ferries",
                "position": "Engineer",
                "startDate": "2021-06",
                "highlights": ["Built the booking API in Django."],
            }
        ],
        "skills": [{"name": "Backend", "keywords": ["Python", "Django"]}],
    }


def encode(resume: dict[str, Any]) -> bytes:
    return json.dumps(resume).encode()


def test_it_stores_a_version_and_tells_only_how_much_it_holds(assert_rebuild_matches: Check) -> None:
    imported = import_profile(encode(make_resume()))

    assert (imported.version, imported.created) == (1, True)
    assert imported.parts == {"experience": 1, "bullets": 1, "skills": 2, "education": 0, "credentials": 0}
    [event] = list_events("ProfileImported")
    assert event == {"version": 1, "parts": imported.parts}
    profile = get_profile(1)
    assert (profile.name, profile.experience[0].bullets[0].text) == (
        "Mara Lindqvist",
        "Built the booking API in Django.",
    )
    assert_rebuild_matches()


def test_it_finds_the_same_profile_unchanged(assert_rebuild_matches: Check) -> None:
    import_profile(encode(make_resume()))

    again = import_profile(json.dumps(make_resume(), indent=4).encode())

    assert (again.version, again.created) == (1, False)
    assert list_event_types() == ["ProfileImported"]
    assert_rebuild_matches()


def test_a_corrected_title_keeps_what_cites_its_lines(assert_rebuild_matches: Check) -> None:
    resume = make_resume()
    import_profile(encode(resume))
    resume["work"][0]["position"] = "Principal Engineer"
    import_profile(encode(resume))

    before, after = get_profile(1), get_profile(2)
    assert [evidence.id for evidence in after.iter_evidence()] == [evidence.id for evidence in before.iter_evidence()]
    assert after.experience[0].position == "Principal Engineer"
    assert_rebuild_matches()


def test_it_keeps_the_older_versions_as_they_were(assert_rebuild_matches: Check) -> None:
    import_profile(encode(make_resume()))
    second = import_profile(encode(make_resume(label="Staff Engineer")))
    third = import_profile(encode(make_resume()))  # back to what it was: a version of its own

    assert (second.version, third.version, third.created) == (2, 3, True)
    assert [get_profile(version).label for version in (1, 2, 3)] == ["", "Staff Engineer", ""]
    assert find_newest_profile_version() == get_newest_profile_version() == 3
    assert_rebuild_matches()


def test_it_starts_no_work(assert_rebuild_matches: Check) -> None:
    add_job()
    before = list(JobStageState.objects.values_list("stage", "state"))

    import_profile(encode(make_resume()))

    assert list(JobStageState.objects.values_list("stage", "state")) == before
    assert_rebuild_matches()


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (b"{", ""),
        (b"[]", ""),
        (b"\xff\xfe\x00", ""),
        (encode({"basics": {"name": ""}, "work": []}), "basics.name"),
        (encode({**make_resume(), "work": []}), "work"),
        (b'{"pad": "' + b"x" * 1_000_000 + b'"}', ""),
    ],
)
def test_it_stores_nothing_of_a_file_that_is_refused(data: bytes, field: str, assert_rebuild_matches: Check) -> None:
    with pytest.raises(ProfileRefused) as refused:
        import_profile(data)

    assert field in [problem.field for problem in refused.value.problems]
    assert not CandidateProfile.objects.exists()
    assert list_event_types() == []
    assert_rebuild_matches()


def test_it_refuses_the_resume_whose_fields_are_all_empty(assert_rebuild_matches: Check) -> None:
    with pytest.raises(ProfileRefused) as refused:
        import_profile(require_shared("resume/jrs-empty.json").read_bytes())

    assert all(problem.reason and problem.remedy for problem in refused.value.problems)
    assert not CandidateProfile.objects.exists()
    assert_rebuild_matches()


@pytest.mark.parametrize("spoilt", ["Mara\x00 Lindqvist", "Mara\u200b Lindqvist", "Mara\x1b Lindqvist"])
def test_it_stores_a_profile_with_characters_that_no_database_takes(spoilt: str, assert_rebuild_matches: Check) -> None:
    resume = make_resume(name=spoilt, summary=spoilt)
    resume["work"][0]["highlights"] = [spoilt]

    imported = import_profile(encode(resume))

    profile = get_profile(imported.version)
    assert profile.name.startswith("Mara") and profile.name.endswith("Lindqvist")
    assert not set(profile.name) & {"\x00", "\u200b", "\x1b"}
    assert_rebuild_matches()


def test_it_refuses_a_broken_emoji_and_says_where(assert_rebuild_matches: Check) -> None:
    with pytest.raises(ProfileRefused) as refused:
        import_profile(encode(make_resume(summary="Fast \ud83d builder")))

    assert [problem.field for problem in refused.value.problems] == ["basics.summary"]
    assert not CandidateProfile.objects.exists()
    assert_rebuild_matches()


@pytest.mark.parametrize(
    ("name", "person", "experience"),
    [
        ("jsonresume-senior-engineer.json", "Dr. Lena Vasquez", 3),
        ("jsonresume-new-grad.json", "Maya Okonkwo", 2),
        ("jrs-v0-richard-hendriks.json", "Richard Hendriks", 1),
    ],
)
def test_it_imports_the_sample_people(name: str, person: str, experience: int, assert_rebuild_matches: Check) -> None:
    imported = import_profile(require_shared(f"resume/{name}").read_bytes())

    profile = get_profile(imported.version)
    assert profile.name == person
    assert sum(item.kind == "work" for item in profile.experience) == experience
    ids = [evidence.id for evidence in profile.iter_evidence()]
    assert len(ids) == len(set(ids)) > 3
    assert_rebuild_matches()


def test_it_names_the_remedy_where_there_is_no_profile() -> None:
    assert find_newest_profile_version() == 0
    with pytest.raises(MissingInput, match=r"manage\.py import_profile FILE"):
        get_newest_profile_version()
    with pytest.raises(MissingInput, match="Profile version 7 does not exist"):
        get_profile(7)
