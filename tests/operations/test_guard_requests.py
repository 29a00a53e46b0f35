"""Who gets in, asked of a real web process: nothing but health, static files and the sign-in page is open."""

import http.client
import json
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from django.db import InterfaceError, OperationalError
from django.test import RequestFactory

from operations.access.refusals import refuse_unavailable
from operations.errors import WorkerUnavailable
from tests.processes import wait_until
from tests.template import Template
from tests.webserver import Web, post_form, read_csrf, running_web

pytestmark = [pytest.mark.worker, pytest.mark.sqlite_alone]

STREAM = "/v1/events/stream"
PAGES = ["/", "/jobs/", "/settings/", "/admin/", "/admin/login/", "/sign-out/", "/nowhere/", "/sign-in", "/static"]
API = ["/v1/jobs", "/v1/nowhere", "/v1/", "/v1/health/", "/v1/schema/", STREAM, "/live/"]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory, template: Template) -> Iterator[Web]:
    with running_web(tmp_path_factory.mktemp("guard") / "home", template) as web:
        yield web


@pytest.fixture(scope="module")
def operator(web: Web) -> httpx.Client:
    return web.operator()


def ask_raw(web: Web, method: str, target: str, headers: dict[str, str] | None = None) -> tuple[int, dict[str, str]]:
    """A request whose target is not tidied up on the way out."""
    connection = http.client.HTTPConnection(web.address.host, web.address.port, timeout=10)
    try:
        connection.request(method, target, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}
    finally:
        connection.close()


# --- without signing in ------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("path", PAGES)
def test_pages_lead_to_the_sign_in_page(web: Web, method: str, path: str) -> None:
    answer = web.visitor().request(method, path, params={"q": "a b&c"})
    assert answer.status_code == 302
    assert answer.headers["location"].startswith("/sign-in/?next=%2F")
    assert answer.headers["location"].endswith("%3Fq%3Da%2Bb%2526c")


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", API)
def test_programs_are_told_to_sign_in(web: Web, method: str, path: str) -> None:
    answer = web.visitor().request(method, path)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    if method != "HEAD":
        assert answer.json()["error"] == "not_signed_in"
        assert "/sign-in/" in answer.json()["message"]


@pytest.mark.parametrize("method", ["OPTIONS", "POST", "PUT", "DELETE", "TRACE", "NONSENSE"])
def test_no_method_opens_a_page(web: Web, method: str) -> None:
    status, headers = ask_raw(web, method, "/jobs/")
    assert status == 302
    assert headers["location"] == "/sign-in/?next=%2F"


def test_a_form_sent_too_late_leads_back_to_its_page(web: Web) -> None:
    answer = web.visitor().post("/sign-out/", headers={"Referer": f"{web.url}/jobs/?q=x"})
    assert answer.headers["location"] == "/sign-in/?next=%2Fjobs%2F%3Fq%3Dx"
    foreign = web.visitor().post("/sign-out/", headers={"Referer": "http://evil.test/jobs/"})
    assert foreign.headers["location"] == "/sign-in/?next=%2F"


def test_a_scripts_fetch_gets_401_and_not_the_sign_in_page(web: Web) -> None:
    assert web.visitor().get("/topbar/", headers={"Sec-Fetch-Mode": "cors"}).status_code == 401


def test_a_late_answer_to_a_script_leaves_the_cookie_of_the_next_session(web: Web) -> None:
    """It was asked for before somebody signed out or in, and comes after what that gave."""
    (name,) = (name for name in web.operator().cookies if name.startswith("jobctrl_session"))
    gone = {"Cookie": f"{name}=0123456789abcdefghijklmnopqrstuv"}
    for path in ("/topbar/", "/v1/jobs", "/live/events/"):
        late = web.visitor().get(path, headers={**gone, "Sec-Fetch-Mode": "cors"})
        assert (late.status_code, "set-cookie" in late.headers) == (401, False), path
    by_name = web.visitor().get("/topbar/", headers={**gone, "X-Requested-With": "fragment"})
    assert (by_name.status_code, "set-cookie" in by_name.headers) == (401, False)
    page = web.visitor().get("/jobs/", headers=gone)
    assert page.headers["set-cookie"].startswith(f'{name}="";')


@pytest.mark.parametrize(
    ("target", "headers"),
    [
        ("/static/../jobs/", {}),
        ("/static/%2e%2e/jobs/", {}),
        ("/static/jobs/", {"Daphne-Root-Path": "/static"}),
        ("/sign-in/jobs/", {"Daphne-Root-Path": "/sign-in"}),
        ("/v1/health/../jobs", {}),
        ("//jobs/", {}),
        ("/v1/health%2f..%2fjobs", {}),
        ("/jobs/", {"X-Original-URL": "/v1/health", "X-Forwarded-For": "127.0.0.1", "Remote-User": "operator"}),
        ("/v1/jobs", {"Authorization": "Basic b3BlcmF0b3I6eA=="}),
        ("/v1/jobs", {"Cookie": "jobctrl_session=x; sessionid=x"}),
    ],
)
def test_no_detour_leads_inside(web: Web, target: str, headers: dict[str, str]) -> None:
    status, _ = ask_raw(web, "GET", target, headers)
    assert status in (302, 400, 401, 404)


def test_nobody_escapes_the_static_folders(web: Web) -> None:
    for target in ("/static/../manage.py", "/static/%2e%2e/manage.py", "/static//etc/passwd", "/static/..%2fmanage.py"):
        assert ask_raw(web, "GET", target)[0] in (302, 404), target


def test_health_tells_strangers_states_and_nothing_else(web: Web) -> None:
    answer = web.visitor().get("/v1/health")
    assert answer.status_code == 200
    body = answer.json()
    assert body.pop("status") == "degraded"
    assert body == {
        "process": {"state": "running"},
        "database": {"state": "ok"},
        "temporal": {"state": "unknown"},
        "worker": {"state": "none"},
        "projections": {"state": "live"},
        "spend": {"state": "within"},
    }
    assert answer.headers["cache-control"] == "no-store"
    assert web.visitor().head("/v1/health").status_code == 200
    assert web.visitor().post("/v1/health").status_code in (403, 405)
    wrong = web.visitor(headers={"Authorization": "Bearer jc_wrong"}).get("/v1/health")
    assert wrong.status_code == 200
    assert "vendor" not in wrong.json()["database"]


def test_health_tells_the_operator_more(web: Web) -> None:
    body = web.script().get("/v1/health").json()
    assert body["database"]["vendor"] in ("sqlite", "postgresql")
    assert body["spend"] == {
        "state": "within", "spentUsd": 0.0, "unknownCalls": 0, "ceilingUsd": 25.0, "usesModels": False
    }  # fmt: skip
    assert set(body["projections"]["apps"].values()) == {"live"}
    assert body["worker"]["lastSeenAt"] is None


# --- static files ------------------------------------------------------------------------------


def test_static_files_are_open_and_revalidated(web: Web) -> None:
    first = web.visitor().get("/static/jobctrl.css")
    assert first.status_code == 200
    assert first.headers["content-type"].startswith("text/css")
    assert first.headers["cache-control"] == "max-age=0, public"
    assert first.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in first.headers
    assert "set-cookie" not in first.headers
    again = web.visitor().get("/static/jobctrl.css", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
    assert web.visitor().get("/static/admin/css/base.css").status_code == 200, "packages' files need no collecting"
    assert web.visitor().get("/static/nothing.css").status_code == 404


# --- tokens and sessions -----------------------------------------------------------------------


def test_a_token_opens_pages_api_and_streams_without_csrf(web: Web) -> None:
    script = web.script()
    assert script.get("/admin/").status_code == 200
    assert script.post("/sign-out/").status_code == 302
    with script.stream("GET", STREAM) as stream:
        assert stream.status_code == 200
        assert stream.headers["content-type"].startswith("text/event-stream")
    assert "set-cookie" not in script.get("/v1/health").headers


@pytest.mark.parametrize("token", ["jc_wrong", "-", "jc_" + "a" * 43, "jc_" + "b" * 10_000])
def test_a_wrong_token_is_refused_even_beside_a_session(web: Web, operator: httpx.Client, token: str) -> None:
    for path in ("/v1/nowhere", STREAM, "/live/"):
        answer = operator.get(path, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401
        assert answer.json()["error"] == "invalid_token"


def test_a_session_opens_pages_api_and_streams(web: Web, operator: httpx.Client) -> None:
    assert operator.get("/admin/").status_code == 200
    assert operator.get("/v1/nowhere").status_code == 404
    for path in (STREAM, "/live/"):
        with operator.stream("GET", path) as stream:
            assert stream.status_code == 200


def test_a_session_must_prove_that_a_form_is_ours(web: Web, operator: httpx.Client) -> None:
    good = read_csrf(operator.get("/settings/"))
    wrong = [
        ({}, {}),
        ({"csrfmiddlewaretoken": "a" * 64}, {}),
        ({"csrfmiddlewaretoken": good}, {"Origin": "http://evil.test"}),
        ({"csrfmiddlewaretoken": good}, {"Origin": "http://127.0.0.1:1"}),
        ({"csrfmiddlewaretoken": good}, {"Origin": "null"}),
    ]
    for fields, headers in wrong:
        answer = operator.post("/sign-out/", data=fields, headers=headers)
        assert answer.status_code == 403
        assert "reload the page" in answer.text
    assert operator.get("/admin/").status_code == 200, "still signed in"


def test_a_session_must_prove_it_to_the_api_as_well(web: Web, operator: httpx.Client) -> None:
    answer = operator.patch("/v1/settings", json={})
    assert answer.status_code == 403
    token = read_csrf(operator.get("/settings/"))
    allowed = operator.patch("/v1/settings", json={"noSuchThing": 1}, headers={"X-CSRFToken": token})
    assert allowed.status_code == 400, "the settings themselves say what is wrong"
    assert web.script().patch("/v1/settings", json={"noSuchThing": 1}).status_code == 400


# --- hosts, headers, bodies --------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/sign-in/", "/v1/health", "/v1/jobs", STREAM])
@pytest.mark.parametrize("host", ["evil.test", "evil.test:8420", "127.0.0.1.evil.test", "localhost@evil.test", "a b"])
def test_another_name_for_this_machine_is_refused(web: Web, path: str, host: str) -> None:
    status, _ = ask_raw(web, "GET", path, {"Host": host, "Authorization": f"Bearer {web.token}"})
    assert status == 400
    answer = web.script().get(path, headers={"Host": "evil.test", "X-Forwarded-Host": "127.0.0.1"})
    assert "ALLOWED_HOSTS" in answer.text
    assert "evil" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_loopback_names_are_ours(web: Web, host: str) -> None:
    answer = web.visitor().get("/v1/health", headers={"Host": f"{host}:{web.address.port}"})
    assert answer.status_code == 200


@pytest.mark.parametrize("path", ["/sign-in/", "/v1/health", "/jobs/", "/admin/", "/v1/nowhere"])
def test_every_answer_carries_the_secure_headers(web: Web, operator: httpx.Client, path: str) -> None:
    headers = operator.get(path).headers
    policy = {part.split()[0]: part.split()[1:] for part in headers["content-security-policy"].split("; ")}
    assert policy == {
        "default-src": ["'self'"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["referrer-policy"] in ("same-origin", "strict-origin")
    assert "camera=()" in headers["permissions-policy"]
    assert "private" in headers["cache-control"] or "no-store" in headers["cache-control"]
    assert "content-encoding" not in headers


@pytest.mark.parametrize("is_chunked", [False, True])
def test_five_megabytes_are_too_large(web: Web, operator: httpx.Client, is_chunked: bool) -> None:
    body = b"x" * 5_000_000
    content = (body[start : start + 100_000] for start in range(0, len(body), 100_000)) if is_chunked else body
    answer = web.script().post("/v1/jobs", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 413
    assert answer.json() == {"error": "too_large", "message": "At most 4 MB can be sent at once. Send a smaller file."}
    page = operator.post("/sign-out/", content=body, headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert page.status_code == 413
    assert "At most 4 MB" in page.text
    assert operator.get("/admin/").status_code == 200


def test_a_body_just_below_the_limit_arrives(web: Web) -> None:
    content = json.dumps({"nothing": "x" * 3_900_000}).encode()
    answer = web.script().patch("/v1/settings", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400


def test_a_websocket_is_refused(web: Web) -> None:
    status, _ = ask_raw(
        web,
        "GET",
        "/live/",
        {
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        },
    )
    assert status == 403


# --- what it depends on ------------------------------------------------------------------------


def test_it_says_what_to_do_while_the_database_is_gone(tmp_path: Path, template: Template) -> None:
    database, aside = tmp_path / "home" / "jobctrl.db", tmp_path / "aside.db"
    with running_web(tmp_path / "home", template) as own:
        script = own.script()
        assert script.get("/admin/").status_code == 200
        database.rename(aside)

        api = script.get("/v1/jobs")
        assert api.status_code == 503
        assert api.json()["error"] == "database_unavailable"
        assert "manage.py up" in api.json()["message"]
        page = script.get("/admin/")
        assert page.status_code == 503
        assert "manage.py up" in page.text
        assert int(page.headers["retry-after"]) > 0
        assert own.visitor().get("/sign-in/").status_code == 503
        health = script.get("/v1/health")
        assert health.status_code == 200
        assert health.json()["database"] == {"state": "unreachable"}
        assert health.json()["worker"] == {"state": "unknown"}

        aside.rename(database)
        assert script.get("/admin/").status_code == 200, "it mends itself"


@pytest.mark.parametrize(
    ("problem", "error", "remedy"),
    [
        (WorkerUnavailable("No worker is running. Start everything with: manage.py up"), WorkerUnavailable.code, "up"),
        (OperationalError("database is locked"), "database_unavailable", "Try again in a moment"),
        (OperationalError("canceling statement due to lock timeout"), "database_unavailable", "Try again in a moment"),
        (OperationalError("no such table: x at /secret/path"), "database_unavailable", "manage.py up"),
        (InterfaceError("connection already closed"), "database_unavailable", "manage.py doctor"),
    ],
)
@pytest.mark.parametrize("path", ["/v1/jobs", "/jobs/"])
def test_what_is_gone_is_a_503_with_the_remedy(path: str, problem: Exception, error: str, remedy: str) -> None:
    answer = refuse_unavailable(RequestFactory().get(path), problem)
    assert answer is not None
    assert answer.status_code == 503
    assert answer["Retry-After"]
    text = answer.content.decode()
    assert error in text
    assert remedy in text
    assert "/secret" not in text


def test_other_failures_are_not_called_unavailable() -> None:
    assert refuse_unavailable(RequestFactory().get("/"), RuntimeError("a bug")) is None


def test_it_stops_at_once_with_streams_open(tmp_path: Path, template: Template) -> None:
    with running_web(tmp_path / "home", template) as web:
        script = web.script()
        with script.stream("GET", STREAM) as one, script.stream("GET", "/live/") as two:
            assert (one.status_code, two.status_code) == (200, 200)
            with socket.create_connection((web.address.host, web.address.port)) as half_sent:
                half_sent.sendall(b"POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\nx")
                time.sleep(0.2)
                web.process.send_signal(signal.SIGTERM)
                wait_until(lambda: web.process.poll() is not None, what="the web process ended", seconds=5)
        assert web.process.returncode == 0


def test_streams_keep_no_thread_that_waits_and_no_connection(web: Web, operator: httpx.Client) -> None:
    """With fifty streams open the pages still answer."""
    with httpx.Client(base_url=web.url, trust_env=False, headers={"Authorization": f"Bearer {web.token}"}) as script:
        streams = [script.send(script.build_request("GET", STREAM), stream=True) for _ in range(50)]
        try:
            assert {stream.status_code for stream in streams} == {200}
            assert operator.get("/admin/").status_code == 200
            files = list(Path(f"/proc/{web.process.pid}/fd").iterdir())
            databases = [file for file in files if "jobctrl.db" in read_target(file)]
            assert len(databases) < 20
        finally:
            for stream in streams:
                stream.close()


def test_the_form_of_a_link_is_accepted_from_its_page_only(web: Web) -> None:
    link = web.manage("sign_in_link").removeprefix(web.url)
    token = link.rpartition("=")[2]
    assert web.visitor().post("/sign-in/", data={"token": token}).status_code == 403
    assert post_form(web.visitor(), link, to="/sign-in/", token=token).status_code == 302


def read_target(descriptor: Path) -> str:
    """What an open file is; "" for one that was closed meanwhile."""
    try:
        return str(descriptor.readlink())
    except FileNotFoundError:
        return ""
