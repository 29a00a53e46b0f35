"""The profile page, its versions, and the import that shows what it changes before it stores anything."""

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from discovery.listing import find_profile_version
from discovery.models import CandidateProfile
from discovery.services.profiles import import_profile
from discovery.views.profile_words import describe_period
from operations.access.accounts import ensure_operator
from operations.first_steps import read_first_steps
from operations.models import JobEventRow

pytestmark = pytest.mark.django_db

Check = Callable[[], None]

SAMPLE = (Path(__file__).resolve().parents[2] / "discovery" / "sample_profile.json").read_bytes()
GRETA: dict[str, Any] = {
    "basics": {"name": "Greta Lindqvist", "email": "greta@example.com"},
    "work": [{"name": "Northwind", "position": "Engineer", "startDate": "2021-03", "highlights": ["Cut latency 40%"]}],
    "skills": [{"name": "Languages", "keywords": ["Python", "Go"]}],
}


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(ensure_operator())
    return client


def read(response: Any) -> str:
    """What the page says, as one line of text."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def find_hidden(response: Any, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', response.content.decode())
    assert found
    return unescape(found[1])


def upload(data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("resume.json", data)


def confirm(operator: Client, preview: Any) -> Any:
    form = {"base": find_hidden(preview, "base"), "resume": find_hidden(preview, "resume")}
    return operator.post("/profile/import/confirm/", form, follow=True)


def test_it_leads_from_nothing_to_an_import(operator: Client) -> None:
    page = operator.get("/profile/")

    assert page.status_code == 200
    assert "/profile/import/" in page.content.decode()
    assert operator.get("/profile/edit/basics/").headers["Location"] == "/profile/"


def test_it_shows_who_what_and_since_when(operator: Client) -> None:
    import_profile(SAMPLE)

    text = read(operator.get("/profile/"))

    assert "Anaïs Krüger" in text and "Berlin, DE" in text
    assert "Senior Backend Engineer Apr 2022 – now" in text
    assert "Cut p99 latency of the rates API from 1.9 s to 240 ms" in text
    assert "Frameworks and APIs Django · Django REST Framework" in text
    assert "AWS Certified Solutions Architect" in text and "Nov 2023" in text
    assert "starts no work" in text


def test_it_answers_its_live_part_alone(operator: Client) -> None:
    assert operator.get("/profile/?fragment=body").content.decode().lstrip().startswith('<div id="profile"')
    import_profile(SAMPLE)

    html = operator.get("/profile/?fragment=body").content.decode()

    assert html.lstrip().startswith('<div id="profile" data-region="profile"')


def test_it_keeps_every_version_and_says_what_each_changed(operator: Client) -> None:
    import_profile(json.dumps(GRETA).encode())
    changed = json.loads(json.dumps(GRETA))
    changed["work"][0]["highlights"] = ["Cut latency 60%"]
    import_profile(json.dumps(changed).encode())

    old, new = operator.get("/profile/versions/1/"), operator.get("/profile/versions/2/")

    assert "the newest is version 2" in read(old) and "Cut latency 40%" in read(old)
    assert "<del>Cut latency 40%</del>" in new.content.decode()
    assert "<ins>Cut latency 60%</ins>" in new.content.decode()


@pytest.mark.parametrize("version", ["3", "0", "999999999999999999999999"])
def test_it_knows_no_other_versions(operator: Client, version: str) -> None:
    import_profile(SAMPLE)

    assert operator.get(f"/profile/versions/{version}/").status_code == 404


def test_it_previews_and_stores_nothing_until_it_is_confirmed(operator: Client, assert_rebuild_matches: Check) -> None:
    preview = operator.post("/profile/import/", {"file": upload(SAMPLE)})

    assert preview.status_code == 200
    assert "nothing is stored yet" in read(preview)
    assert "Added Python, SQL, Go" in read(preview)
    assert not CandidateProfile.objects.exists() and not JobEventRow.objects.exists()

    page = confirm(operator, preview)

    assert "Profile version 1 was imported. It starts no work" in read(page)
    assert [row.event_type for row in JobEventRow.objects.all()] == ["ProfileImported"]
    assert_rebuild_matches()


def test_it_stores_what_was_previewed_with_the_same_ids(operator: Client) -> None:
    import_profile(SAMPLE)
    before = find_profile_version()
    longer = json.loads(SAMPLE)
    longer["work"][0]["highlights"].append("Wrote the runbooks")

    confirm(operator, operator.post("/profile/import/", {"text": json.dumps(longer)}))

    after = find_profile_version()
    assert before and after and after.version == 2
    assert after.document.experience[1:] == before.document.experience[1:]
    assert after.document.experience[0].bullets[:-1] == before.document.experience[0].bullets


def test_it_previews_added_removed_and_changed_parts(operator: Client) -> None:
    import_profile(json.dumps(GRETA).encode())
    other = {
        "basics": {"name": "Greta Lindqvist", "email": "greta@example.org"},
        "work": [
            {"name": "Northwind", "position": "Engineer", "startDate": "2021-03", "endDate": "2024", "highlights": []},
            {"name": "Birch", "position": "Lead", "highlights": ["Hired six people"]},
        ],
        "skills": [{"name": "Languages", "keywords": ["Go"], "level": "Expert"}],
    }

    preview = operator.post("/profile/import/", {"text": json.dumps(other)})
    text = read(preview)

    assert "E-mail: greta@example.com greta@example.org" in text
    assert "Changed Engineer Northwind Until: 2024 Cut latency 40%" in text
    assert "Added Lead Birch Hired six people" in text
    assert "Removed Python" in text and "Changed Go Languages Level: Expert" in text


def test_it_says_when_an_import_changes_nothing(operator: Client) -> None:
    import_profile(SAMPLE)

    preview = operator.post("/profile/import/", {"file": upload(SAMPLE)})

    assert "it says the same" in read(preview)
    assert "Store it" not in read(preview)


def test_it_names_every_wrong_field_and_keeps_what_was_pasted(operator: Client) -> None:
    text = '{"basics": {"name": "", "email": "nobody"}, "work": [{"name": "</textarea>&", "startDate": "soon"}]}'

    page = operator.post("/profile/import/", {"text": text})

    assert page.status_code == 400
    for field in ("basics.name", "basics.email", "work[0].startDate"):
        assert f"<code>{field}</code>" in page.content.decode()
    assert "Write it as name@example.com" in read(page)
    assert text in unescape(page.content.decode()) and "</textarea>&" not in page.content.decode()
    assert not CandidateProfile.objects.exists()


def test_it_shows_a_refused_file_so_that_it_can_be_mended_in_place(operator: Client) -> None:
    page = operator.post("/profile/import/", {"file": upload(b'{"basics": {"name": "Gr\xc3\xa9ta"}}'), "text": "older"})

    assert page.status_code == 400
    assert '{"basics": {"name": "Gréta"}}' in unescape(page.content.decode())


@pytest.mark.parametrize(
    ("form", "status", "reason"),
    [
        ({"text": ""}, 400, "This is not JSON"),
        ({"text": "[]"}, 400, "no JSON object at its top level"),
        ({"text": '{"basics": {"name": "A", "name": "B"}}'}, 400, "more than once"),
        ({"text": "\x00" + '{"work": "x"}'}, 400, "This is not JSON"),
        ({"text": "x" * 1_000_001}, 413, "larger than 1 MB"),
        ({"file": upload(b"%PDF-1.7 \xff\xfe\x00")}, 400, "not"),
        ({"file": upload(b" " * 1_000_001)}, 413, "larger than 1 MB"),
    ],
)
def test_it_refuses_what_is_no_resume(operator: Client, form: dict[str, Any], status: int, reason: str) -> None:
    page = operator.post("/profile/import/", form)

    assert page.status_code == status
    assert reason in read(page)
    assert not CandidateProfile.objects.exists()


def test_it_tells_of_a_version_stored_between_preview_and_confirmation(
    operator: Client, assert_rebuild_matches: Check
) -> None:
    import_profile(json.dumps(GRETA).encode())
    preview = operator.post("/profile/import/", {"file": upload(SAMPLE)})
    import_profile(json.dumps(GRETA | {"skills": []}).encode())

    page = confirm(operator, preview)

    assert page.status_code == 409
    assert "you started from version 1, the newest is version 2" in read(page)
    assert CandidateProfile.objects.count() == 2
    assert "Profile version 3 was imported" in read(confirm(operator, page))
    assert_rebuild_matches()


def test_it_takes_a_confirmation_sent_twice_for_one(operator: Client) -> None:
    preview = operator.post("/profile/import/", {"file": upload(SAMPLE)})

    confirm(operator, preview)
    page = confirm(operator, preview)

    assert page.status_code == 200 and "version 1 says the same already" in read(page)
    assert CandidateProfile.objects.count() == 1


@pytest.mark.parametrize("form", [{}, {"base": "x", "resume": "{"}, {"base": "-1", "resume": "[]"}])
def test_it_refuses_a_confirmation_of_nothing(operator: Client, form: dict[str, str]) -> None:
    assert operator.post("/profile/import/confirm/", form).status_code == 400
    assert not CandidateProfile.objects.exists()


def test_it_is_the_first_of_the_first_steps(operator: Client) -> None:
    steps = {shown.step.url_name: shown for shown in read_first_steps()}
    assert steps["discovery:profile"].is_next and not steps["discovery:sources"].is_next
    assert "/profile/" in operator.get("/").content.decode()

    import_profile(SAMPLE)

    steps = {shown.step.url_name: shown for shown in read_first_steps()}
    assert steps["discovery:profile"].done and steps["discovery:sources"].is_next


@pytest.mark.parametrize(
    ("start", "end", "is_open", "said"),
    [
        ("2022-04", "", True, "Apr 2022 – now"),
        ("2022-04", "", False, "since Apr 2022"),
        ("2018", "2021-02-28", True, "2018 – Feb 2021"),
        ("", "2021", True, "until 2021"),
        ("2021", "2021", True, "2021"),
        ("", "", True, ""),
    ],
)
def test_it_says_a_period(start: str, end: str, is_open: bool, said: str) -> None:
    assert describe_period(start, end, is_open=is_open) == said
