"""Editing the profile part by part, with and without mistakes, and in two tabs at once."""

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from discovery.listing import find_profile_version
from discovery.models import CandidateProfile
from discovery.services.profiles import import_profile
from discovery.views.resume_fields import PARTS
from operations.access.accounts import ensure_operator
from operations.models import JobEventRow

pytestmark = pytest.mark.django_db

Check = Callable[[], None]

SAMPLE = (Path(__file__).resolve().parents[2] / "discovery" / "sample_profile.json").read_bytes()
FIELD = re.compile(
    r'<input id="[^"]+" name="([\w-]+)" value="([^"]*)"|<textarea id="[^"]+" name="([\w-]+)"[^>]*>\n(.*?)</textarea>'
    r'|<input type="hidden" name="([\w-]+)" value="([^"]*)"',
    re.DOTALL,
)


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(ensure_operator())
    return client


def read(response: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def fill(response: Any) -> dict[str, str]:
    """The form as a browser would send it, untouched."""
    html = response.content.decode().partition('id="edit"')[2]
    found = {}
    for groups in FIELD.findall(html):
        name = groups[0] or groups[2] or groups[4]
        found[name] = unescape(groups[1] or groups[3] or groups[5])
    return found


def open_form(operator: Client, part: str) -> dict[str, str]:
    return fill(operator.get(f"/profile/edit/{part}/"))


def save(operator: Client, part: str, form: dict[str, str], *, action: str = "save") -> Any:
    return operator.post(f"/profile/edit/{part}/", form | {"action": action}, follow=True)


def get_document() -> Any:
    found = find_profile_version()
    assert found
    return found.document


@pytest.mark.parametrize("part", [name for name in PARTS if name != "start"])
def test_it_saves_an_untouched_form_as_nothing(operator: Client, part: str) -> None:
    import_profile(SAMPLE)

    page = save(operator, part, open_form(operator, part))

    assert "Nothing was changed." in read(page)
    assert CandidateProfile.objects.count() == 1


def test_it_saves_a_new_version_and_says_that_it_starts_no_work(
    operator: Client, assert_rebuild_matches: Check
) -> None:
    import_profile(SAMPLE)
    before = get_document()
    form = open_form(operator, "experience")
    form["work-0-highlights"] += "\r\n\r\nWrote the “runbooks” & more\r\n"

    page = save(operator, "experience", form)

    assert "Profile version 2 was saved. It starts no work" in read(page)
    after = get_document()
    assert after.experience[0].bullets[:-1] == before.experience[0].bullets
    assert after.experience[0].bullets[-1].text == "Wrote the “runbooks” & more"
    assert after.skills == before.skills
    event = JobEventRow.objects.get(event_type="ProfileUpdated")
    assert event.payload["version"] == 2 and event.payload["parts"]["bullets"] == 20
    assert "runbooks" not in json.dumps(event.payload)
    assert_rebuild_matches()


def test_it_edits_who_you_are_and_keeps_the_links(operator: Client) -> None:
    import_profile(SAMPLE)
    form = open_form(operator, "basics")
    form |= {"basics-email": "anais@example.org", "basics-location-region": "Berlin", "basics-url": "anais.example.org"}

    save(operator, "basics", form)

    document = get_document()
    assert (document.email, document.region, document.url) == (
        "anais@example.org",
        "Berlin",
        "https://anais.example.org",
    )
    assert [link.network for link in document.links] == ["GitHub", "LinkedIn"]


def test_it_adds_moves_and_removes_entries_without_saving(operator: Client) -> None:
    import_profile(SAMPLE)
    form = open_form(operator, "experience")

    page = save(operator, "experience", form | {"work-0-position": "Typed"}, action="add-work")
    form = fill(page)
    assert "Not saved yet" in read(page)
    assert (form["work-count"], form["work-0-position"], form["work-1-position"]) == ("4", "", "Typed")

    form |= {"work-0-position": "Principal Engineer", "work-0-name": "Northwind", "work-0-startDate": "2025"}
    form = fill(save(operator, "experience", form, action="remove-work-2"))
    form = fill(save(operator, "experience", form, action="up-work-1"))
    assert [form[f"work-{index}-position"] for index in range(3)] == [
        "Typed",
        "Principal Engineer",
        "Software Developer",
    ]
    assert CandidateProfile.objects.count() == 1

    save(operator, "experience", form)

    work = [item.position for item in get_document().experience if item.kind == "work"]
    assert work == ["Typed", "Principal Engineer", "Software Developer"]


@pytest.mark.parametrize("action", ["remove-work-99", "up-work-0", "add-nothing", "remove-work", "DROP", "up-skills-1"])
def test_it_ignores_an_action_that_makes_no_sense(operator: Client, action: str) -> None:
    import_profile(SAMPLE)
    form = open_form(operator, "experience")
    if action == "remove-work":
        form = fill(save(operator, "experience", form, action="add-work"))

    page = save(operator, "experience", form, action=action)

    assert page.status_code == 200
    assert fill(page)["work-count"] == "3"
    assert CandidateProfile.objects.count() == 1


def test_it_marks_every_wrong_field_and_keeps_what_was_typed(operator: Client) -> None:
    import_profile(SAMPLE)
    form = open_form(operator, "experience")
    form |= {
        "work-0-startDate": "last spring",
        "work-1-endDate": "1999",
        "work-2-url": "javascript:alert(1)",
        "work-2-highlights": "Fine\n" + "x" * 1001,
        "projects-0-name": "<b>typed</b>",
        "volunteer-0-organization": "",
        "volunteer-0-position": "",
    }

    page = save(operator, "experience", form)

    assert page.status_code == 400
    assert "5 things to mend, marked below" in read(page)
    html = page.content.decode()
    for name, reason in [
        ("work-0-startDate", "This is not a date"),
        ("work-1-endDate", "The end date is before the start date"),
        ("work-2-url", "This is not a web address"),
        ("work-2-highlights", "Line 2: This text is longer than 1000 characters"),
    ]:
        assert reason in unescape(html.partition(f'id="{name}-error">')[2].partition("<")[0]), name
    assert "This entry needs an organization or a position" in read(page)
    form.pop("csrfmiddlewaretoken")
    assert {name: fill(page)[name] for name in form} == form
    assert CandidateProfile.objects.count() == 1


def test_it_refuses_to_take_the_last_experience_away(operator: Client) -> None:
    import_profile(b'{"basics": {"name": "Greta"}, "work": [{"name": "Northwind"}]}')
    form = fill(save(operator, "experience", open_form(operator, "experience"), action="remove-work-0"))

    page = save(operator, "experience", form)

    assert page.status_code == 400
    assert "A profile without experience is refused" in read(page)


def test_it_tells_the_later_of_two_tabs_and_keeps_what_it_typed(
    operator: Client, assert_rebuild_matches: Check
) -> None:
    import_profile(SAMPLE)
    first, second = open_form(operator, "skills"), open_form(operator, "skills")
    save(operator, "skills", first | {"skills-0-keywords": "Python\nHaskell"})

    page = save(operator, "skills", second | {"skills-0-keywords": "Python\nSQL\nErlang"})

    assert page.status_code == 409
    text = read(page)
    assert "you started from version 1, the newest is version 2" in text
    theirs, mine = text.split("What saving yours would now change")
    assert "Added Haskell" in theirs
    assert "Added SQL, Erlang" in mine and "Removed Haskell" in mine
    assert fill(page)["skills-0-keywords"] == "Python\nSQL\nErlang"
    assert [skill.name for skill in get_document().skills[:2]] == ["Python", "Haskell"]

    save(operator, "skills", fill(page))

    assert [skill.name for skill in get_document().skills[:3]] == ["Python", "SQL", "Erlang"]
    assert_rebuild_matches()


@pytest.mark.parametrize("base", ["", "x", "-1", "0", "7", "9" * 30])
def test_it_never_saves_over_a_version_it_was_not_made_from(operator: Client, base: str) -> None:
    import_profile(SAMPLE)
    form = open_form(operator, "basics") | {"base": base, "basics-label": "Changed"}

    assert save(operator, "basics", form).status_code == 409
    assert CandidateProfile.objects.count() == 1


def test_it_writes_a_profile_from_nothing(operator: Client) -> None:
    form = open_form(operator, "start")
    assert (form["base"], form["work-count"]) == ("0", "1")
    refused = save(operator, "start", form)
    assert refused.status_code == 400 and "The name is empty" in read(refused)

    form |= {"basics-name": "Greta Lindqvist", "work-0-position": "Engineer", "work-0-name": "Northwind"}
    save(operator, "start", form)

    assert get_document().name == "Greta Lindqvist"
    assert operator.get("/profile/edit/start/").headers["Location"] == "/profile/edit/basics/"


def test_it_tells_the_second_of_two_first_profiles(operator: Client) -> None:
    form = open_form(operator, "start")
    form |= {"basics-name": "Greta", "work-0-position": "Engineer"}
    import_profile(SAMPLE)

    page = save(operator, "start", form)

    assert page.status_code == 409
    assert fill(page)["basics-name"] == "Greta"


def test_it_shows_skills_without_a_group_as_one_entry(operator: Client) -> None:
    import_profile(
        b'{"basics": {"name": "G"}, "work": [{"name": "N"}], "skills": [{"name": "Writing"}, {"name": "Speaking"}]}'
    )

    form = open_form(operator, "skills")

    assert (form["skills-count"], form["skills-0-name"], form["skills-0-keywords"]) == ("1", "", "Writing\nSpeaking")


@pytest.mark.parametrize("count", ["", "-1", "x", "1e3", "99999999"])
def test_it_survives_any_number_of_entries(operator: Client, count: str) -> None:
    import_profile(SAMPLE)
    form = {"base": "1", "skills-count": count, "action": "add-skills"}

    assert operator.post("/profile/edit/skills/", form).status_code == 200


def test_it_has_no_other_parts(operator: Client) -> None:
    assert operator.get("/profile/edit/nothing/").status_code == 404
