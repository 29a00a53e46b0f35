"""A profile written as a JSON Resume reads back as the same profile, ids included; and what two versions differ in."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discovery.contracts import ProfileDocument
from discovery.profile_import import compare_profiles, read_profile, write_json_resume

SAMPLE = Path(__file__).resolve().parents[2] / "discovery" / "sample_profile.json"
RESUMES = Path(__file__).resolve().parents[3] / "shared" / "data" / "resume"

text = st.text(st.characters(codec="utf-8"), max_size=12)
name = st.text(st.characters(codec="utf-8", categories=("L", "N", "P")), min_size=1, max_size=8)
word = st.sampled_from(["Python", "python", "Go", "C++", "「Ruby」", "a|b", "A - B", "A – B"])
lines = st.lists(st.one_of(text, word), max_size=4)
year = st.integers(1900, 2000).map(str)
later = st.sampled_from(["", "2001", "2010-05", "2019-12-31", "Present"])
url = st.sampled_from(["", "example.com", "https://example.com/a?b=c", "mailto:a@example.com"])
dated = {"startDate": year, "endDate": later, "url": url}


def rows(**fields: Any) -> st.SearchStrategy[list[dict[str, Any]]]:
    return st.lists(st.fixed_dictionaries({}, optional=fields), max_size=4)


resumes = st.fixed_dictionaries(
    {
        "basics": st.fixed_dictionaries(
            {"name": name.filter(lambda value: value.isprintable())},
            optional={
                "label": text,
                "email": st.sampled_from(["", "a@example.com", "mailto:b@example.com"]),
                "phone": text,
                "url": url,
                "summary": text,
                "location": st.fixed_dictionaries({}, optional={"city": text, "countryCode": st.sampled_from(["de", ""])}),
                "profiles": rows(network=text, url=url),
            },
        ),
        "work": st.lists(
            st.fixed_dictionaries({"name": name}, optional={"position": text, "highlights": lines, "summary": text, "location": text, **dated}),
            min_size=1,
            max_size=3,
        ),
    },
    optional={
        "volunteer": st.lists(st.fixed_dictionaries({"organization": name}, optional={"highlights": lines, **dated}), max_size=2),
        "projects": st.lists(
            st.fixed_dictionaries({"name": name}, optional={"entity": text, "description": text, "keywords": lines, "highlights": lines, **dated}),
            max_size=2,
        ),
        "skills": rows(name=st.one_of(text, word), level=st.sampled_from(["", "Expert"]), keywords=lines),
        "education": rows(institution=text, area=text, studyType=text, score=text, courses=lines, startDate=year, endDate=later),
        "certificates": rows(name=text, issuer=text, date=year, url=url),
        "awards": rows(title=text, awarder=text, date=year),
        "publications": rows(name=text, publisher=text, releaseDate=year, url=url),
        "languages": rows(language=text, fluency=text),
    },
)  # fmt: skip


def read(resume: object) -> ProfileDocument:
    return read_profile(json.dumps(resume, ensure_ascii=False))


TWICE = {"name": "Acme", "startDate": "1999"}


@settings(max_examples=60, deadline=None)
@example({"basics": {"name": "A"}, "work": [{**TWICE, "highlights": ["Led"]}, {**TWICE, "highlights": ["Led", "Led"]}]})
@given(resumes)
def test_it_writes_what_reads_back_as_the_same_document(resume: dict[str, Any]) -> None:
    document = read(resume)

    written = write_json_resume(document)

    assert read(written) == document
    assert write_json_resume(read(written)) == written


def test_it_writes_the_sample_back_as_it_stands() -> None:
    sample = json.loads(SAMPLE.read_text())
    written: dict[str, Any] = write_json_resume(read(sample))

    for section in ("work", "volunteer", "projects", "skills", "education", "certificates", "languages"):
        for row, kept in zip(written[section], sample[section], strict=True):
            assert row.items() <= kept.items()
    assert written["basics"]["location"] == {"city": "Berlin", "countryCode": "DE"}


def test_it_writes_real_resumes_back() -> None:
    if not RESUMES.is_dir():
        pytest.skip("the shared data folder is not beside this clone")
    found = 0
    for path in sorted(RESUMES.glob("*.json")):
        try:
            document = read_profile(path.read_bytes())
        except Exception:  # not every file there is a resume that is accepted
            continue
        assert read(write_json_resume(document)) == document, path.name
        found += 1
    assert found >= 2


def test_it_splits_a_group_that_is_longer_than_a_row_may_be() -> None:
    half = [f"skill {number}" for number in range(100)]
    other = [f"other {number}" for number in range(60)]
    resume = {
        "basics": {"name": "G"},
        "work": [{"name": "N"}],
        "skills": [{"name": "Tools", "keywords": half}, {"name": "Tools", "keywords": other}],
    }
    document = read(resume)

    assert read(write_json_resume(document)) == document


def test_it_tells_the_order_from_the_content() -> None:
    document = read(json.loads(SAMPLE.read_text()))
    turned = replace(document, skills=document.skills[::-1])

    assert compare_profiles(document, turned).is_only_order
    assert compare_profiles(document, document).is_same
    assert not compare_profiles(document, document).is_only_order


def test_it_adds_everything_where_nothing_was() -> None:
    difference = compare_profiles(None, read(json.loads(SAMPLE.read_text())))

    assert {change.change for change in difference.changes} == {"added"}
    assert sum(len(change.added) for change in difference.changes) == 19


def test_it_sees_a_respelling_that_keeps_the_id() -> None:
    before = read({"basics": {"name": "G"}, "work": [{"name": "N"}], "skills": [{"name": "python"}]})
    after = read({"basics": {"name": "G"}, "work": [{"name": "N"}], "skills": [{"name": "Python"}]})

    (change,) = compare_profiles(before, after).changes
    assert (change.part, change.change, change.fields[0].name) == ("skill", "changed", "title")
