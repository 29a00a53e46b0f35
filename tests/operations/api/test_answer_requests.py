"""What every operation refuses, and how: a status, a code, a sentence with the remedy, the reason by field."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import get_resolver

from operations.models import ApiToken, JobEventRow, SavedView, StoredSetting
from tests.operations.api.conftest import Script
from tests.operations.cast import Cast

READABLE = ["/v1/jobs", "/v1/workflow-runs", "/v1/events", "/v1/settings", "/v1/views", "/v1/artifacts",
            "/v1/auth/tokens", "/v1/discovery/sources", "/v1/schema/"]  # fmt: skip
UNKNOWN = "00000000-0000-4000-8000-000000000000"


def read_error(answer: Any, status: int, error: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.content[:400]
    assert answer["content-type"] == "application/json"
    body: dict[str, Any] = answer.json()
    assert body["error"] == error
    assert len(body["message"]) > 10
    return body


@pytest.mark.parametrize("path", READABLE)
def test_it_reads_with_a_token_and_refuses_without(script: Script, path: str) -> None:
    assert script.get(path).status_code == 200
    answer = Client().get(path)
    assert answer.status_code == 401
    assert answer["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("path", [path for path in READABLE if not path.endswith("/")])
def test_it_refuses_what_it_was_not_asked_in_its_own_words(script: Script, path: str) -> None:
    body = read_error(script.get(path, {"minscore": "7"}), 400, "bad_request")
    assert "no such parameter" in body["fields"]["minscore"]


def test_it_refuses_a_parameter_given_twice(script: Script) -> None:
    body = read_error(script.get("/v1/jobs?stage=score&stage=cover"), 400, "bad_request")
    assert body["fields"] == {"stage": "it is given more than once"}


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("/v1/jobs", "limit=0", "limit"),
        ("/v1/jobs", "limit=201", "limit"),
        ("/v1/jobs", "limit=٣", "limit"),
        ("/v1/jobs", "sort=title", "sort"),
        ("/v1/jobs", "sort=-sort_score", "sort"),
        ("/v1/jobs", "stage=print", "stage"),
        ("/v1/jobs", "state=lost", "state"),
        ("/v1/jobs", "minScore=8&maxScore=3", "maxScore"),
        ("/v1/jobs", "place=" + "x" * 201, "place"),
        ("/v1/jobs", "minScore=11", "minScore"),
        ("/v1/jobs", "minScore=1e1", "minScore"),
        ("/v1/jobs", "view=everything", "view"),
        ("/v1/jobs", "format=xml", "format"),
        ("/v1/jobs", "q=%00", "q"),
        ("/v1/jobs", "q=" + "x" * 10_000, "q"),
        ("/v1/jobs", "source=" + "x" * 161, "source"),
        ("/v1/events", "jobId=7", "jobId"),
        ("/v1/events", "type=" + "x" * 61, "type"),
        ("/v1/events", "runId=a%00", "runId"),
        ("/v1/workflow-runs", "since=yesterday", "since"),
        ("/v1/workflow-runs", "until=0001-01-01T00:00:00%2B23:59", "until"),
        ("/v1/workflow-runs", "since=9999-12-31T23:59:59-23:59", "since"),
        ("/v1/workflow-runs", "status=done", "status"),
        ("/v1/views", "page=settings", "page"),
        ("/v1/artifacts", "jobId='", "jobId"),
    ],
)
def test_it_says_which_parameter_is_wrong(script: Script, path: str, query: str, field: str) -> None:
    body = read_error(script.get(f"{path}?{query}"), 400, "bad_request")
    assert list(body["fields"]) == [field]


@pytest.mark.parametrize(
    "text",
    [
        "' OR 1=1 --",
        "<script>alert(1)</script>",
        "\u202eabc",
        "%",
        "_",
        "\\",
        '"',
        "*",
        "a OR b",
        "NEAR(a b)",
        "é",
        "😀",
        "ab",
        "(",
        "-x",
    ],
)
def test_it_searches_for_hostile_text_as_text(script: Script, cast: Cast, text: str) -> None:
    for path in ("/v1/jobs", "/v1/events", "/v1/workflow-runs"):
        answer = script.get(path, {"q": text})
        assert answer.status_code == 200, answer.content
    assert script.get("/v1/jobs", {"q": text}).json()["jobs"] == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", f"/v1/jobs/{UNKNOWN}"),
        ("GET", "/v1/jobs/7"),
        ("POST", f"/v1/jobs/{UNKNOWN}/actions/hide"),
        ("POST", "/v1/jobs/{backend}/actions/explode"),
        ("GET", "/v1/workflow-runs/nope"),
        ("GET", "/v1/workflow-runs/%00"),
        ("GET", "/v1/workflow-runs/%ff%fe"),
        ("GET", "/v1/workflow-runs/" + "x" * 3000),
        ("POST", "/v1/workflow-runs/nope/actions/cancel"),
        ("POST", "/v1/workflow-runs/%00/actions/cancel"),
        ("GET", f"/v1/artifacts/{UNKNOWN}/content"),
        ("DELETE", "/v1/views/1"),
        ("DELETE", "/v1/views/" + "9" * 30),
        ("DELETE", "/v1/views/" + "9" * 5000),
        ("DELETE", "/v1/auth/tokens/" + "9" * 30),
        ("GET", "/v1/nowhere"),
        ("GET", "/v1/health/"),
    ],
)
def test_unknown_things_are_not_found(script: Script, cast: Cast, method: str, path: str) -> None:
    read_error(script.send(method, path.format(backend=cast.backend)), 404, "not_found")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "NONSENSE"])
def test_it_names_the_methods_that_there_are(script: Script, method: str) -> None:
    answer = script.send(method, "/v1/jobs")
    read_error(answer, 405, "method_not_allowed")
    assert "GET" in answer["allow"]


DEEP = "[" * 100_000 + "]" * 100_000
BODIES: list[tuple[bytes, str]] = [
    (b"", "stage"),
    (b"{", "body"),
    (b"[]", "body"),
    (b'"score"', "body"),
    (b"null", "body"),
    (b'{"stage": "score", "stage": "cover"}', "body"),
    (b'{"stage": "apply"}', "stage"),
    (b'{"stage": ["score"]}', "stage"),
    (b'{"stage": {"a": 1}}', "stage"),
    (b'{"stage": "sc\\u0000ore"}', "body"),
    (b'{"stage": "\\ud800"}', "body"),
    (b'{"\\udc00": 1}', "body"),
    (b'{"stage": "\xff"}', "body"),
    (b'{"stage": NaN}', "body"),
    (b'{"stage": "score", "limit": 1e999}', "body"),
    (b'{"stage": "score", "limit": ' + b"9" * 5000 + b"}", "body"),
    (b'{"stage": "score", "limit": -1}', "limit"),
    (b'{"stage": "score", "limit": 9999999999999999999999}', "limit"),
    (b'{"stage": "score", "limit": "many"}', "limit"),
    (b'{"stage": "score", "jobIds": []}', "jobIds"),
    (b'{"stage": "score", "jobIds": "all"}', "jobIds"),
    (b'{"stage": "score", "jobIds": ["7"]}', "jobIds.0"),
    (b'{"stage": "discover", "jobIds": ["00000000-0000-4000-8000-000000000000"]}', "jobIds"),
    (b'{"stage": "score", "jobIDs": []}', "jobIDs"),
    (b'{"stage": "' + b"x" * 10_000 + b'"}', "stage"),
    (b'{"stage": ' + DEEP.encode() + b"}", "body"),
    (b'{"stage": "score", "limit": ' + b"[" * 40 + b"]" * 40 + b"}", "body"),
]


@pytest.mark.parametrize(("body", "field"), BODIES, ids=[str(number) for number in range(len(BODIES))])
def test_it_says_what_is_wrong_with_a_body(script: Script, body: bytes, field: str) -> None:
    found = read_error(script.send("POST", "/v1/pipeline/actions/run-stage", body), 400, "bad_request")
    assert list(found["fields"]) == [field]


def test_it_takes_a_byte_order_mark(script: Script) -> None:
    assert script.send("PATCH", "/v1/settings", b'\xef\xbb\xbf{"min_fit_score": 6}').status_code == 200


def test_it_refuses_5_mb(script: Script) -> None:
    read_error(script.send("PATCH", "/v1/settings", b'{"a": "' + b"x" * 5_000_000 + b'"}'), 413, "too_large")


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/xml",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "nonsense",
        "application/json; charset=utf-16",
    ],
)
def test_it_takes_json_alone(script: Script, content_type: str) -> None:
    answer = script.generic("POST", "/v1/pipeline/actions/run-stage", b"stage=score", content_type=content_type)
    assert answer.status_code in (400, 415), answer.content
    assert answer.json()["error"] in ("bad_request", "unsupported_media_type")


def test_no_accept_header_is_refused(script: Script) -> None:
    for wanted in ("text/csv", "application/pdf", "text/html", "nonsense"):
        assert script.get("/v1/jobs", headers={"Accept": wanted}).status_code == 200


# --- sessions ----------------------------------------------------------------------------------


def test_a_session_must_prove_its_forms(visitor: Client) -> None:
    body = read_error(visitor.patch("/v1/settings", b"{}", content_type="application/json"), 403, "csrf_failed")
    assert "X-CSRFToken" in body["message"]


def test_an_expired_session_is_told_to_sign_in(visitor: Client) -> None:
    visitor.session.flush()
    read_error(visitor.get("/v1/jobs"), 401, "not_signed_in")


# --- settings, views, tokens -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body"),
        ([], "body"),
        ({"min_fit_score": 11}, "min_fit_score"),
        ({"min_fit_score": "7"}, "min_fit_score"),
        ({"min_fit_score": 10**400}, "min_fit_score"),
        ({"min_fit_score": None}, "min_fit_score"),
        ({"min_fit_score": {"a": [1]}}, "min_fit_score"),
        ({"daily_budget_usd": -1}, "daily_budget_usd"),
        ({"provider": "builtin"}, "provider"),
        ({"provider": {"score": "nobody"}}, "provider"),
        ({"no_such_setting": 1}, "no_such_setting"),
        ({"min_fit_score": 6, "no_such_setting": 1}, "no_such_setting"),
        ({"x" * 10_000: 1}, "x" * 200),
    ],
)
def test_a_wrong_setting_changes_nothing(script: Script, body: Any, field: str) -> None:
    answer = script.send("PATCH", "/v1/settings", json.dumps(body))
    assert answer.status_code == 400, answer.content
    assert list(answer.json()["fields"]) == [field]
    assert not StoredSetting.objects.exists()
    assert not JobEventRow.objects.exists()


def test_a_change_of_settings_names_the_token(script: Script) -> None:
    answer = script.send("PATCH", "/v1/settings", json.dumps({"min_fit_score": 6, "results_per_board": 20}))
    assert answer.status_code == 200
    values = {row["key"]: row["value"] for row in answer.json()["settings"]}
    assert (values["min_fit_score"], values["results_per_board"]) == (6, 20)
    row = JobEventRow.objects.get(event_type="SettingsChanged")
    assert row.payload["actor"] == "operator (token tests)"


def test_many_wrong_settings_get_a_short_answer(script: Script) -> None:
    answer = script.send("PATCH", "/v1/settings", json.dumps({f"s{number}": "<b>" * 100 for number in range(5_000)}))
    assert answer.status_code == 400
    assert len(answer.content) < 20_000


def test_it_keeps_a_view(script: Script) -> None:
    body = {"page": "jobs", "name": "Good ones", "query": "minScore=8"}
    first = script.send("POST", "/v1/views", json.dumps(body))
    again = script.send("POST", "/v1/views", json.dumps(body | {"query": "minScore=9"}))
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json()["id"] == again.json()["id"]
    assert [view["query"] for view in script.get("/v1/views", {"page": "jobs"}).json()["views"]] == ["minScore=9"]
    assert script.get("/v1/views", {"page": "runs"}).json()["views"] == []
    assert script.send("DELETE", f"/v1/views/{first.json()['id']}").status_code == 204
    assert not SavedView.objects.exists()


def test_nobody_sees_or_ends_what_is_anothers(script: Script) -> None:
    other = User.objects.create_user("other")
    view = SavedView.objects.create(user=other, page="jobs", name="Mine", query="", created_at="2026-01-01T00:00Z")
    token = ApiToken.objects.create(
        user=other, token_hash="x", hint="abcd", label="mine", created_at="2026-01-01T00:00Z"
    )
    assert script.get("/v1/views").json()["views"] == []
    assert script.send("DELETE", f"/v1/views/{view.pk}").status_code == 404
    assert script.send("DELETE", f"/v1/auth/tokens/{token.pk}").status_code == 404
    assert ApiToken.objects.get(pk=token.pk).revoked_at is None


def test_a_token_is_shown_once_and_can_be_ended(script: Script) -> None:
    made = script.send("POST", "/v1/auth/tokens", json.dumps({"label": " backups "}))
    assert made.status_code == 200
    assert made["cache-control"] == "no-store"
    body = made.json()
    assert body["label"] == "backups"
    assert body["token"].endswith(body["hint"])
    other = Client(headers={"Authorization": f"Bearer {body['token']}"})
    assert other.get("/v1/jobs").status_code == 200
    listed = script.get("/v1/auth/tokens")
    assert body["token"] not in listed.content.decode()
    assert {row["label"] for row in listed.json()["tokens"]} == {"backups", "tests"}
    assert script.send("DELETE", f"/v1/auth/tokens/{body['id']}").status_code == 204
    assert other.get("/v1/jobs").status_code == 401
    assert script.send("DELETE", f"/v1/auth/tokens/{body['id']}").status_code == 404


@pytest.mark.parametrize("label", ["", "  ", "x" * 81, None, ["a"]])
def test_a_token_needs_a_label(script: Script, label: Any) -> None:
    answer = script.send("POST", "/v1/auth/tokens", json.dumps({"label": label}))
    assert list(read_error(answer, 400, "bad_request")["fields"]) == ["label"]


def test_every_address_of_the_api_is_described(script: Script) -> None:
    described = script.get("/v1/schema/").json()["paths"]
    routes = [str(pattern.pattern) for found in get_resolver("jobctrl.api_urls").url_patterns
              for pattern in getattr(found, "url_patterns", [found])]  # fmt: skip
    assert len(described) == len(routes) - 2, "all but the schema and its page"
