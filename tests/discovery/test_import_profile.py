"""JSON Resume files become profiles whole, or are refused with every reason."""

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discovery.contracts import (
    Bullet,
    Credential,
    Education,
    Experience,
    ProfileDocument,
    ProfileLink,
    Skill,
)
from discovery.profile_import import Problem, ProfileRefused, dump_profile, keep_ids, load_profile, read_profile
from discovery.profile_import.decode import MAX_BYTES

RESUMES = Path(__file__).resolve().parents[3] / "shared" / "data" / "resume"
SAMPLE = Path(__file__).resolve().parents[2] / "discovery" / "sample_profile.json"

GRETA: dict[str, Any] = {
    "basics": {"name": "Greta Lindqvist", "email": "greta@example.com", "location": {"city": "Malmö"}},
    "work": [
        {
            "name": "Northwind",
            "position": "Engineer",
            "startDate": "2021-03",
            "highlights": ["Cut p99 latency 40% by reworking the fetch path", "Led the on-call rotation"],
        },
        {"name": "Birch & Co", "position": "Developer", "startDate": "2018", "endDate": "2021-02-28"},
    ],
    "skills": [{"name": "Languages", "keywords": ["Python", "Go"]}, {"name": "Writing"}],
}


def read(value: object) -> ProfileDocument:
    return read_profile(json.dumps(value))


def refuse(data: bytes | str) -> dict[str, Problem]:
    with pytest.raises(ProfileRefused) as refused:
        read_profile(data)
    return {problem.field: problem for problem in refused.value.problems}


def change(path: str, value: object) -> str:
    """Greta's file with one value set; the path is dotted, with list indexes as numbers."""
    file = copy.deepcopy(GRETA)
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    target: Any = file
    for step in steps:
        target = target[step]
    target[last] = value
    return json.dumps(file)


# --- what comes in -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "name", "label", "city", "work", "educations", "groups"),
    [
        (
            "jrs-v0-richard-hendriks.json",
            "Richard Hendriks",
            "Programmer",
            "San Francisco",
            [("Pied Piper", "CEO/President", "2013-12-01", "2014-12-01")],
            1,
            ["Web Development", "Compression"],
        ),
        (
            "jsonresume-schema-sample.json",
            "Richard Hendriks",
            "Programmer",
            "San Francisco",
            [("Pied Piper", "CEO/President", "2013-12-01", "2014-12-01")],
            1,
            ["Web Development", "Compression"],
        ),
        (
            "jsonresume-new-grad.json",
            "Maya Okonkwo",
            "Computer Science Graduate",
            "Seattle",
            [
                ("Outreach", "Software Engineering Intern", "2024-06-01", "2024-09-01"),
                ("Allen Institute for AI", "Research Intern", "2023-06-01", "2023-09-01"),
            ],
            1,
            ["Programming Languages", "Web Development", "Data & Infrastructure"],
        ),
        (
            "jsonresume-senior-engineer.json",
            "Dr. Lena Vasquez",
            "Staff Software Engineer, Distributed Systems",
            "San Francisco",
            [
                ("Confluent", "Staff Software Engineer", "2020-02-01", ""),
                ("Dropbox", "Senior Software Engineer", "2015-06-01", "2020-01-01"),
                ("Rackspace", "Software Engineer", "2011-08-01", "2015-05-01"),
            ],
            2,
            ["Distributed Systems", "Programming Languages", "Infrastructure"],
        ),
    ],
)
def test_it_reads_the_resumes_people_publish(
    file: str, name: str, label: str, city: str, work: list[tuple[str, ...]], educations: int, groups: list[str]
) -> None:
    if not RESUMES.is_dir():
        pytest.skip("the shared resume samples are not here")

    profile = read_profile((RESUMES / file).read_bytes())

    jobs = [(x.organization, x.position, x.start, x.end) for x in profile.experience if x.kind == "work"]
    assert (profile.name, profile.label, profile.city) == (name, label, city)
    assert profile.email.endswith("@example.com")
    assert jobs == work
    assert len(profile.education) == educations
    assert list(dict.fromkeys(skill.group for skill in profile.skills)) == groups
    assert load_profile(dump_profile(profile)) == profile


def test_it_refuses_the_empty_form_and_says_what_is_missing() -> None:
    if not RESUMES.is_dir():
        pytest.skip("the shared resume samples are not here")

    problems = refuse((RESUMES / "jrs-empty.json").read_bytes())

    assert problems["basics.name"].reason == "The name is empty."
    assert problems["work"].reason.startswith("A profile without experience is refused")


def test_it_reads_the_sample_profile_of_the_demo() -> None:
    profile = read_profile(SAMPLE.read_bytes())

    assert profile.email.endswith("@example.com")
    assert len([item for item in profile.experience if item.kind == "work"]) == 3
    assert not profile.name.isascii()
    assert {item.name for item in profile.credentials if item.kind == "language"} == {"German", "English"}


def test_it_reads_version_0_names() -> None:
    profile = read(
        {
            "basics": {"name": "Greta", "website": "https://greta.example.com", "picture": "x.png", "url": ""},
            "work": [{"company": "Northwind", "name": "", "website": "northwind.example.com", "position": None}],
            "education": [{"institution": "Lund", "studyType": "BSc", "gpa": "4.0"}],
            "publications": [{"name": "On Queues", "website": "https://example.com/q", "releaseDate": "2019"}],
        }
    )

    assert profile.url == "https://greta.example.com"
    assert (profile.experience[0].organization, profile.experience[0].url) == (
        "Northwind",
        "https://northwind.example.com",
    )
    assert (profile.education[0].degree, profile.education[0].score) == ("BSc", "4.0")
    assert profile.credentials[0].url == "https://example.com/q"


@pytest.mark.parametrize(("grade", "kept"), [(3.9, "3.9"), (1, "1"), ("with honours", "with honours"), (None, "")])
def test_a_grade_may_be_a_number(grade: object, kept: str) -> None:
    work = [{"name": "Northwind", "position": "Engineer"}]
    profile = read({"basics": {"name": "G"}, "work": work, "education": [{"institution": "Lund", "gpa": grade}]})

    assert profile.education[0].score == kept


def test_it_drops_blank_entries_and_unknown_keys() -> None:
    profile = read(
        {
            "basics": {"name": " Greta\u00a0 Lindqvist\u200b ", "shoeSize": 38},
            "work": [
                {"company": "", "highlights": [""]},
                {"name": "Northwind", "highlights": ["", " ", "Led\r\nit", None]},
                None,
            ],
            "skills": [{"name": "", "keywords": [""]}, {"name": "Data", "keywords": ["", "SQL"]}],
            "awards": [{"title": ""}],
            "languages": None,
            "x-private": {"any": [1]},
        }
    )

    assert profile.name == "Greta Lindqvist"
    assert [item.organization for item in profile.experience] == ["Northwind"]
    assert [bullet.text for bullet in profile.experience[0].bullets] == ["Led it"]
    assert [(skill.name, skill.group) for skill in profile.skills] == [("SQL", "Data")]
    assert profile.credentials == ()


def test_it_reads_a_row_without_keywords_as_one_skill() -> None:
    assert [(skill.name, skill.group) for skill in read(GRETA).skills] == [
        ("Python", "Languages"),
        ("Go", "Languages"),
        ("Writing", ""),
    ]


@pytest.mark.parametrize("encode", ["utf-8-sig", "utf-8", "utf-16"])
def test_it_reads_marks_and_line_ends_of_any_editor(encode: str) -> None:
    text = json.dumps(GRETA, indent=2, ensure_ascii=False).replace("\n", "\r\n")

    assert read_profile(text.encode(encode)) == read(GRETA)
    assert read_profile("\ufeff" + text) == read(GRETA)


@pytest.mark.parametrize(
    ("given_date", "expected"),
    [
        ("2014", "2014"),
        ("2014-12", "2014-12"),
        ("2016-02-29", "2016-02-29"),
        ("2014-12-01T00:00:00.000Z", "2014-12-01"),
        ("", ""),
        ("Present", ""),
        (None, ""),
    ],
)
def test_it_keeps_dates_as_precise_as_they_are(given_date: str | None, expected: str) -> None:
    profile = read_profile(change("work.1", {"name": "Birch", "endDate": given_date}))

    assert profile.experience[1].end == expected


def test_a_project_counts_as_experience() -> None:
    profile = read(
        {"basics": {"name": "Greta"}, "projects": [{"name": "raft-lab", "entity": "Lund", "keywords": ["Go"]}]}
    )

    item = profile.experience[0]
    assert (item.kind, item.position, item.organization, item.keywords) == ("project", "raft-lab", "Lund", ("Go",))


# --- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "field", "reason"),
    [
        ("basics.name", "\u200b ", "basics.name", "The name is empty."),
        ("basics.name", 7, "basics.name", "Text is expected here."),
        ("basics", [], "basics", "An object is expected here."),
        ("basics.email", "greta at example", "basics.email", "This is not an e-mail address."),
        ("basics.url", "javascript:alert(1)", "basics.url", "This is not a web address."),
        ("basics.website", "data:text/html,x", "basics.website", "This is not a web address."),
        ("basics.url", "https://", "basics.url", "This is not a web address."),
        ("basics.url", 'https://x.example/"onload=', "basics.url", "This is not a web address."),
        ("basics.profiles", [{"network": "G", "url": "JaVaScRiPt:x"}], "basics.profiles[0].url", "This is not a web address."),
        ("basics.location", "Malmö", "basics.location", "An object is expected here."),
        ("work.1.startDate", "03/2018", "work[1].startDate", "This is not a date."),
        ("work.1.startDate", "2018-13", "work[1].startDate", "This is not a date."),
        ("work.1.startDate", "2019-02-29", "work[1].startDate", "This is not a date."),
        ("work.1.startDate", "٢٠١٩", "work[1].startDate", "This is not a date."),
        ("work.1.startDate", 2018, "work[1].startDate", "Text is expected here."),
        ("work.1.endDate", "2017-12", "work[1].endDate", "The end date is before the start date."),
        ("work.0.highlights", "Led it", "work[0].highlights", "A list is expected here."),
        ("work.0.highlights.1", {"text": "Led it"}, "work[0].highlights[1]", "Text is expected here."),
        ("work.0.highlights.0", "x" * 1001, "work[0].highlights[0]", "This text is longer than 1000 characters."),
        ("basics.summary", "x" * 5001, "basics.summary", "This text is longer than 5000 characters."),
        ("work.0.highlights", ["x"] * 101, "work[0].highlights", "This list has more than 100 entries."),
        ("work", [{"name": "x"}] * 101, "work", "This list has more than 100 entries."),
        ("work.0", {"highlights": ["Led it"]}, "work[0]", "This entry needs an employer or a position."),
        ("work", [], "work", "A profile without experience is refused: work, volunteer and projects are all empty."),
        ("skills.0.keywords", {"a": "Python"}, "skills[0].keywords", "A list is expected here."),
        ("work", True, "work", "A list is expected here."),
    ],
)  # fmt: skip
def test_it_refuses_with_the_place_and_the_reason(path: str, value: object, field: str, reason: str) -> None:
    problems = refuse(change(path, value))

    assert list(problems) == [field]
    assert problems[field].reason == reason
    assert problems[field].remedy


def test_the_end_of_a_year_is_not_before_a_month_in_it() -> None:
    profile = read_profile(change("work.1", {"name": "Birch", "startDate": "2018-05", "endDate": "2018"}))

    assert profile.experience[1].end == "2018"


def test_it_names_all_problems_at_once() -> None:
    problems = refuse(
        json.dumps(
            {
                "basics": {"name": "", "email": "x"},
                "work": [
                    {"company": "A", "startDate": "soon", "endDate": "2019"},
                    {"startDate": "2020", "endDate": "2019"},
                ],
                "skills": {},
            }
        )
    )

    assert set(problems) == {
        "basics.name",
        "basics.email",
        "work[0].startDate",
        "work[1].endDate",
        "work[1]",
        "skills",
    }


def test_a_refusal_never_repeats_what_the_file_says() -> None:
    with pytest.raises(ProfileRefused) as refused:
        read_profile(change("basics.email", "canary-7319"))

    assert "canary-7319" not in f"{refused.value} {refused.value!r}"
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


@pytest.mark.parametrize(
    ("data", "field", "reason"),
    [
        ('{"basics": {"name": "A"},\n "work": [,]}', "", "line 2, column 11"),
        ("", "", "line 1, column 1"),
        ("[1, 2]", "", "no JSON object"),
        ('"Greta"', "", "no JSON object"),
        ('{"a": NaN}', "", "not JSON"),
        ('{"a": ' + "9" * 5000 + "}", "", "not JSON"),
        (b'{"basics": {"name": "Malm\xf6"}}', "", "not UTF-8"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "", "a PDF, and only JSON Resume"),
        (b"PK\x03\x04\x14\x00\x06\x00", "", "a Word"),
        ("{\\rtf1\\ansi Greta", "", "an RTF document"),
        (b"\xef\xbb\xbf \n<!doctype html>", "", "a web page"),
        ("[" * 100_000, "", "nested"),
        ('{"a":' * 21 + "1" + "}" * 21, "", "nested"),
        (b"{" + b" " * MAX_BYTES + b"}", "", "larger than 1 MB"),
        ('{"work": [{"name": "A", "name": "B"}]}', "work[0].name", "more than once"),
    ],
)
def test_it_refuses_what_is_not_a_resume_file(data: bytes | str, field: str, reason: str) -> None:
    problems = refuse(data)

    assert reason in problems[field].reason


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
_KEYS = (
    "basics work volunteer projects skills education name company position startDate endDate highlights keywords "
    "location profiles url website email summary awards certificates languages publications"
)
_keys = st.sampled_from(_KEYS.split())
_resume_like = st.recursive(
    _json,
    lambda inner: st.dictionaries(_keys, inner, max_size=6) | st.lists(inner, max_size=3),
    max_leaves=25,
)


@settings(max_examples=150, deadline=None)
@given(_resume_like)
def test_any_json_is_read_or_refused(value: object) -> None:
    try:
        profile = read(value)
    except ProfileRefused as refused:
        assert refused.problems
    else:
        assert profile.name and profile.experience
        assert load_profile(dump_profile(profile)) == profile


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with pytest.raises(ProfileRefused):
        read_profile(data)


# --- ids ---------------------------------------------------------------------------------------


def list_ids(profile: ProfileDocument) -> dict[str, str]:
    found = {evidence.id: evidence.text for evidence in profile.iter_evidence()}
    return {**found, **{link.id: link.url for link in profile.links}}


def test_every_part_has_its_own_id() -> None:
    profile = read_profile(SAMPLE.read_bytes())
    count = len(list(profile.iter_evidence())) + len(profile.links)

    assert len(list_ids(profile)) == count
    assert {key.split("-")[0] for key in list_ids(profile)} == {"summary", "exp", "bul", "ski", "edu", "cre", "lnk"}


def test_reordering_changes_no_id() -> None:
    file = json.loads(SAMPLE.read_text(encoding="utf-8"))
    file["work"][0]["highlights"].append(file["work"][1]["highlights"][0])
    file["work"].append({"name": "Twice Ltd", "position": "Dev", "summary": "First spell"})
    file["work"].append({"name": "Twice Ltd", "position": "Dev", "summary": "Second spell"})
    before = list_ids(read(file))

    shuffler = random.Random(7)
    for section in ("work", "projects", "skills", "education", "languages"):
        shuffler.shuffle(file[section])
    for row in (*file["work"], *file["skills"]):
        shuffler.shuffle(row.get("highlights") or row.get("keywords") or [])

    assert list_ids(read(file)) == before


def test_editing_one_bullet_keeps_all_other_ids() -> None:
    before = list_ids(read(GRETA))
    after = list_ids(read_profile(change("work.0.highlights.1", "Led the on-call rotation of five")))

    assert [text for key, text in before.items() if key not in after] == ["Led the on-call rotation"]
    assert [text for key, text in after.items() if key not in before] == ["Led the on-call rotation of five"]


def test_retyping_spaces_and_dashes_keeps_the_ids() -> None:
    before = list_ids(read(GRETA))
    after = list_ids(read_profile(change("work.0.highlights.1", "  Led the on‑call   rotation ")))

    assert set(after) == set(before)


ACME = {"name": "Acme", "position": "Dev", "startDate": "2020", "location": "Rome", "highlights": ["Did x", "Did y"]}


def follow(*versions: list[dict[str, Any]], section: str = "work") -> list[dict[str, str]]:
    """Ids by text, version after version, each stored after the one before."""
    former: ProfileDocument | None = None
    found = []
    for entries in versions:
        document = read({"basics": {"name": "G"}, "work": [ACME], section: entries})
        former = document if former is None else keep_ids(document, former)
        found.append({text: key for key, text in list_ids(former).items()})
    return found


@pytest.mark.parametrize(
    "correction",
    [
        {"position": "Developer"},
        {"position": "Developer", "endDate": "2024"},
        {"startDate": "2020-03"},
        {"location": "Milan"},
        {"endDate": "2024", "summary": "Led it"},
    ],
)
def test_correcting_an_entry_changes_no_id(correction: dict[str, str]) -> None:
    before, after = follow([ACME], [{**ACME, **correction}])

    assert set(after.values()) == set(before.values())


def test_a_new_title_and_one_more_line_leave_the_other_ids() -> None:
    before, after = follow([ACME], [{**ACME, "position": "Lead", "highlights": ["Did x", "Did z", "Did y"]}])

    assert set(before.values()) <= set(after.values())


@pytest.mark.parametrize(
    ("section", "one", "other"),
    [
        ("work", {"name": "Acme", "position": "Enginer", "startDate": "2020"}, {"position": "Engineer"}),
        (
            "education",
            {"institution": "UCC", "studyType": "BSc", "area": "Law", "startDate": "2010"},
            {"studyType": "B.Sc."},
        ),
    ],
)
def test_a_typing_error_mended_changes_no_id(section: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    before, after = follow([one], [{**one, **other}], section=section)

    assert set(after.values()) == set(before.values())


def test_an_id_never_goes_over_to_another_entry() -> None:
    """Two spells as the same thing, of which the later comes first by content."""
    other = {**ACME, "location": "Bonn", "highlights": ["Did another thing"]}
    (alone,) = follow([ACME])
    before, both, again = follow([ACME], [other, ACME], [{**ACME, "highlights": ["Did x", "Did y", "Did z"]}, other])

    assert before == alone
    assert [both["Did x"], both["Did y"]] == [before["Did x"], before["Did y"]]
    assert both["Did another thing"] not in before.values()
    assert {text: again[text] for text in ("Did x", "Did y", "Did another thing")} == {
        text: both[text] for text in ("Did x", "Did y", "Did another thing")
    }


@pytest.mark.parametrize(
    ("section", "one", "other"),
    [
        ("work", ACME, {"name": "Bern AG", "position": "Cook", "startDate": "2011", "highlights": ["Cooked"]}),
        ("work", ACME, {"name": "Acme", "position": "Chief", "startDate": "2020", "highlights": ["Led it"]}),
        ("projects", {"name": "lint", "startDate": "2020-01"}, {"name": "Ferry table", "startDate": "2020-01"}),
        (
            "education",
            {"institution": "UCC", "studyType": "BSc", "area": "Computing", "startDate": "2010"},
            {"institution": "UCC", "studyType": "MA", "area": "History", "startDate": "2010"},
        ),
    ],
)
def test_what_replaces_an_entry_gets_an_id_of_its_own(section: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    before, after = follow([one], [other], section=section)

    kept = set(before.values()) & set(after.values())
    assert kept == (set() if section == "work" else set(follow([], section=section)[0].values()))


def test_renaming_a_group_of_skills_changes_no_id() -> None:
    before, after = follow(
        [{"name": "Lang", "keywords": ["Go", "SQL"]}], [{"name": "Languages", "keywords": ["SQL", "Go", "C"]}],
        section="skills",
    )  # fmt: skip

    assert {name: after[name] for name in ("Go", "SQL")} == {name: before[name] for name in ("Go", "SQL")}
    assert after["C"] not in before.values()


def test_keeping_ids_twice_is_keeping_them_once() -> None:
    former = read({"basics": {"name": "G"}, "work": [ACME]})
    later = read(
        {"basics": {"name": "G"}, "work": [{**ACME, "location": "Bonn"}, {**ACME, "highlights": ["New"]}, ACME]}
    )
    once = keep_ids(later, former)

    assert keep_ids(once, former) == once
    assert keep_ids(later, once) == once
    assert len(list_ids(once)) == len(list(once.iter_evidence()))


def test_equal_ids_are_told_apart_and_equal_entries_merged() -> None:
    spell = {"name": "Northwind", "position": "Engineer"}
    profile = read(
        {
            "basics": {"name": "G"},
            "work": [{**spell, "summary": "b"}, {**spell, "summary": "a"}, {**spell, "summary": "a"}],
        }
    )

    assert [item.summary for item in profile.experience] == ["b", "a"]
    assert profile.experience[0].id == f"{profile.experience[1].id}-2"


# --- storage -----------------------------------------------------------------------------------

_text = st.text(max_size=12)
_profiles = st.builds(
    ProfileDocument,
    name=_text,
    label=_text,
    summary=_text,
    links=st.lists(st.builds(ProfileLink, _text, _text, _text), max_size=2).map(tuple),
    experience=st.lists(
        st.builds(
            Experience,
            _text,
            st.sampled_from(["work", "volunteer", "project"]),
            _text,
            _text,
            bullets=st.lists(st.builds(Bullet, _text, _text), max_size=3).map(tuple),
            keywords=st.lists(_text, max_size=3).map(tuple),
        ),
        max_size=3,
    ).map(tuple),
    skills=st.lists(st.builds(Skill, _text, _text, _text, _text), max_size=3).map(tuple),
    education=st.lists(st.builds(Education, _text, _text, courses=st.lists(_text, max_size=2).map(tuple)), max_size=2).map(tuple),
    credentials=st.lists(st.builds(Credential, _text, _text, _text), max_size=2).map(tuple),
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(_profiles)
def test_a_stored_profile_comes_back_the_same(profile: ProfileDocument) -> None:
    stored = json.loads(json.dumps(dump_profile(profile)))

    assert load_profile(stored) == profile


@pytest.mark.parametrize("stored", [{}, {"name": 3}, {"name": "G", "experience": [{"id": "x"}]}])
def test_a_damaged_store_is_refused(stored: dict[str, object]) -> None:
    with pytest.raises(ProfileRefused):
        load_profile(stored)
