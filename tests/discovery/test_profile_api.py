"""``/v1/profile`` and ``/v1/discovery/sources`` as a script uses them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from discovery.models import CandidateProfile, SourceRegistryEntry
from discovery.profile_import import read_profile
from discovery.services.profiles import import_profile
from operations.access.accounts import ensure_operator
from operations.access.tokens import create_token
from operations.models import JobEventRow

pytestmark = pytest.mark.django_db

Check = Callable[[], None]

SAMPLE = (Path(__file__).resolve().parents[2] / "discovery" / "sample_profile.json").read_bytes()


class Script:
    """A client with a token; every answer is read as JSON."""

    def __init__(self) -> None:
        _, token = create_token(ensure_operator(), label="test", now=timezone.now())
        self.client = Client(headers={"Authorization": f"Bearer {token}"}, enforce_csrf_checks=True)

    def get(self, path: str) -> Any:
        return self.client.get(path)

    def send(self, method: str, path: str, body: Any) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.generic(method, path, data, content_type="application/json")


@pytest.fixture
def script() -> Script:
    return Script()


def list_event_types() -> list[str]:
    return list(JobEventRow.objects.order_by("id").values_list("event_type", flat=True))


# --- the profile -------------------------------------------------------------------------------


def test_it_has_no_profile_at_first(script: Script) -> None:
    answer = script.get("/v1/profile")

    assert answer.status_code == 404
    assert answer.json()["error"] == "not_found" and "Import" in answer.json()["message"]


def test_it_gives_the_newest_version_as_a_json_resume(script: Script) -> None:
    import_profile(SAMPLE)

    body = script.get("/v1/profile").json()

    assert body["version"] == 1 and body["importedAt"].endswith("Z")
    assert read_profile(json.dumps(body["resume"])) == read_profile(SAMPLE)


def test_it_saves_an_edited_resume(script: Script, assert_rebuild_matches: Check) -> None:
    import_profile(SAMPLE)
    resume = script.get("/v1/profile").json()["resume"]
    resume["basics"]["label"] = "Staff Engineer"

    answer = script.send("PUT", "/v1/profile", {"baseVersion": 1, "resume": resume})

    assert answer.status_code == 200
    assert (answer.json()["version"], answer.json()["resume"]["basics"]["label"]) == (2, "Staff Engineer")
    assert list_event_types() == ["ProfileImported", "ProfileUpdated"]
    assert_rebuild_matches()


def test_it_makes_no_version_of_the_same_content(script: Script) -> None:
    import_profile(SAMPLE)
    resume = script.get("/v1/profile").json()["resume"]

    assert script.send("PUT", "/v1/profile", {"baseVersion": 1, "resume": resume}).json()["version"] == 1


@pytest.mark.parametrize("base", [0, 1, 3])
def test_it_refuses_a_change_of_an_older_version(script: Script, base: int) -> None:
    import_profile(SAMPLE)
    resume = script.get("/v1/profile").json()["resume"]
    script.send("PUT", "/v1/profile", {"baseVersion": 1, "resume": resume | {"skills": []}})

    answer = script.send("PUT", "/v1/profile", {"baseVersion": base, "resume": resume | {"education": []}})

    assert answer.status_code == 409
    assert answer.json()["error"] == "conflict" and "version 2" in answer.json()["message"]
    assert CandidateProfile.objects.count() == 2


@pytest.mark.parametrize(
    ("body", "field", "reason"),
    [
        ({"resume": {}}, "baseVersion", "required"),
        ({"baseVersion": "x", "resume": {}}, "baseVersion", "valid integer"),
        ({"baseVersion": -1, "resume": {}}, "baseVersion", "greater than or equal to 0"),
        ({"baseVersion": 0}, "resume", "required"),
        ({"baseVersion": 0, "resume": []}, "resume", "dictionary"),
        ({"baseVersion": 0, "resume": {}, "force": True}, "force", "no such field"),
        ({"baseVersion": 0, "resume": {"basics": {"name": "G"}, "work": [{"name": "N", "startDate": "x"}]}},
         "resume.work[0].startDate", "not a date"),
        ({"baseVersion": 0, "resume": {"basics": {"name": 7}, "work": [{"name": "N"}]}}, "resume.basics.name", "Text"),
        (b'{"baseVersion": 0, "resume": {"work": [], "work": []}}', "resume.work", "more than once"),
        (b"{", "body", "not JSON"),
        (b"", "body", "not JSON"),
        (b"[]", "body", "no JSON object"),
        (b'{"baseVersion": NaN}', "body", "not JSON"),
        (b"\xff\xfe\x00", "body", "not"),
    ],
)  # fmt: skip
def test_it_names_each_wrong_field_by_its_path(script: Script, body: Any, field: str, reason: str) -> None:
    answer = script.send("PUT", "/v1/profile", body)

    assert answer.status_code == 400
    assert reason in answer.json()["fields"][field]
    assert not CandidateProfile.objects.exists()


def test_it_previews_an_import_without_storing_it(script: Script) -> None:
    import_profile(SAMPLE)
    shorter = json.loads(SAMPLE)
    gone = shorter["work"][0]["highlights"].pop()

    body = script.send("POST", "/v1/profile/import?preview=true", shorter).json()

    assert (body["version"], body["stored"], body["parts"]["bullets"]) == (1, False, 18)
    (change,) = body["differences"]
    assert (change["part"], change["change"], change["removed"]) == ("experience", "changed", [gone])
    assert change["id"].startswith("exp-") and change["fields"] == []
    assert CandidateProfile.objects.count() == 1


def test_it_imports_a_body_or_a_file(script: Script, assert_rebuild_matches: Check) -> None:
    first = script.send("POST", "/v1/profile/import", SAMPLE).json()
    again = script.client.post("/v1/profile/import", {"file": SimpleUploadedFile("r.json", SAMPLE)}).json()

    assert (first["version"], first["stored"]) == (1, True)
    assert (again["version"], again["stored"], again["differences"]) == (1, False, [])
    assert list_event_types() == ["ProfileImported"]
    assert_rebuild_matches()


def test_it_refuses_what_is_larger_than_a_megabyte(script: Script) -> None:
    big = b" " * 1_000_001

    assert script.send("POST", "/v1/profile/import", big).status_code == 413
    assert script.send("PUT", "/v1/profile", big).status_code == 413
    answer = script.client.post("/v1/profile/import", {"file": SimpleUploadedFile("r.json", big)})
    assert answer.status_code == 413
    assert answer.json()["error"] == "too_large" and "1 MB" in answer.json()["message"]


def test_it_refuses_other_kinds_of_body(script: Script) -> None:
    text = script.client.generic("POST", "/v1/profile/import", b"x", content_type="text/plain")
    nothing = script.client.post("/v1/profile/import", {"file": "no file"})
    unclear = script.send("POST", "/v1/profile/import?preview=maybe", SAMPLE)

    assert text.status_code == 415
    assert nothing.status_code == 400 and "file" in nothing.json()["fields"]
    assert unclear.status_code == 400 and "preview" in unclear.json()["fields"]
    assert not CandidateProfile.objects.exists()


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/v1/profile"), ("PUT", "/v1/profile"), ("POST", "/v1/profile/import"), ("GET", "/v1/discovery/sources")],
)
def test_it_is_closed_to_who_is_not_signed_in(method: str, path: str) -> None:
    assert Client().generic(method, path, b"{}", content_type="application/json").status_code == 401


# --- sources -----------------------------------------------------------------------------------


def test_it_adds_lists_and_switches_sources(script: Script, assert_rebuild_matches: Check) -> None:
    added = script.send("POST", "/v1/discovery/sources", {"kind": "lever", "board": "acme", "label": "Acme"})
    samples = script.send("POST", "/v1/discovery/sources", {"kind": "bundled"})
    switched = script.send("PATCH", "/v1/discovery/sources", {"id": "lever:acme", "enabled": False})

    assert added.status_code == 200 and added.json()["sources"][0]["id"] == "lever:acme"
    assert len(samples.json()["sources"]) == 7
    assert switched.json()["enabled"] is False
    rows = {row["id"]: row for row in script.get("/v1/discovery/sources").json()["sources"]}
    assert len(rows) == 8 and rows["lever:acme"]["enabled"] is False
    assert (rows["lever:acme"]["jobs"], rows["lever:acme"]["lastReadAt"], rows["lever:acme"]["state"]) == (
        0,
        None,
        "new",
    )
    assert list_event_types()[-1] == "SourceRegistryEntryUpdated"
    assert_rebuild_matches()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "kind"),
        ({"kind": "myspace"}, "kind"),
        ({"kind": "lever"}, "board"),
        ({"kind": "lever", "board": "a/b"}, "board"),
        ({"kind": "lever", "board": "x" * 5000}, "board"),
        ({"kind": "lever", "board": "acme", "baseUrl": "ftp://example.com"}, "baseUrl"),
        ({"kind": "lever", "board": "acme\x00"}, "body"),
        ({"kind": "lever", "board": ["acme"]}, "board"),
        ({"kind": "lever", "board": 0}, "board"),
        ({"kind": "lever", "board": "acme", "token": "x"}, "token"),
    ],
)
def test_it_refuses_a_source_by_field(script: Script, body: dict[str, Any], field: str) -> None:
    answer = script.send("POST", "/v1/discovery/sources", body)

    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == [field]
    assert not SourceRegistryEntry.objects.exists()


def test_it_knows_no_other_source(script: Script) -> None:
    assert script.send("PATCH", "/v1/discovery/sources", {"id": "lever:x", "enabled": True}).status_code == 404
    assert script.send("PATCH", "/v1/discovery/sources", {"id": "lever:x"}).status_code == 400


@pytest.mark.parametrize("enabled", [0, 1, "true", None, []])
def test_it_switches_by_true_and_false_alone(script: Script, enabled: Any) -> None:
    script.send("POST", "/v1/discovery/sources", {"kind": "lever", "board": "acme"})

    answer = script.send("PATCH", "/v1/discovery/sources", {"id": "lever:acme", "enabled": enabled})

    assert answer.status_code == 400 and list(answer.json()["fields"]) == ["enabled"]
    assert SourceRegistryEntry.objects.get().enabled
