"""What the gateway reads, how long it waits, and what it says of a failure."""

import gzip
import json
import socket
import threading
import time
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import Settings

from discovery.gateway import (
    BadContent,
    Denied,
    FetchCancelled,
    FetchError,
    Network,
    NetworkFailure,
    NotFound,
    SourceUnavailable,
    TooLarge,
    fetch,
    fetch_json,
)
from discovery.gateway.answers import read_retry_after
from discovery.gateway.body import read_body
from tests.boardserver import (
    BoardServer,
    Reply,
    reply_big,
    reply_cut_off,
    reply_dribble,
    reply_gzip,
    reply_hang,
    reply_html,
    reply_json,
    reply_redirect,
    reply_status,
    reply_truncated,
)

SECRET = "hush-hush"


@pytest.fixture
def board(settings: Settings) -> Iterator[BoardServer]:
    with BoardServer() as server:
        settings.JOBCTRL_ALLOW_PRIVATE_HOSTS = [server.host_port]
        yield server


def test_it_reads_a_board_under_its_own_name(board: BoardServer) -> None:
    url = board.set_route("/jobs", Reply(body=b'{"jobs": [1]}', headers={"Set-Cookie": "track=1", "X-A": "b"}))

    response = fetch(url)
    fetch(url)

    assert (response.status, response.content_type, response.url) == (200, "application/json", url)
    assert response.headers["x-a"] == "b"
    seen = board.requests[1].headers
    assert seen["user-agent"].startswith("jobctrl/")
    assert "personal job search" in seen["user-agent"]
    assert "cookie" not in seen
    assert fetch_json(url) == {"jobs": [1]}


@pytest.mark.parametrize(
    ("status", "kind", "code", "retryable", "error_type"),
    [
        (404, NotFound, "NOT_FOUND", False, "missing_input"),
        (410, NotFound, "NOT_FOUND", False, "missing_input"),
        (401, Denied, "ACCESS_DENIED", False, "authentication"),
        (403, Denied, "ACCESS_DENIED", False, "authentication"),
        (429, SourceUnavailable, "RATE_LIMITED", True, "source_unavailable"),
        (500, SourceUnavailable, "SOURCE_UNAVAILABLE", True, "source_unavailable"),
        (503, SourceUnavailable, "SOURCE_UNAVAILABLE", True, "source_unavailable"),
        (400, BadContent, "UNEXPECTED_STATUS", False, "missing_input"),
        (304, BadContent, "UNEXPECTED_STATUS", False, "missing_input"),
    ],
)
def test_it_tells_statuses_apart(
    status: int, kind: type[FetchError], code: str, retryable: bool, error_type: str, board: BoardServer
) -> None:
    url = board.set_route("/jobs", Reply(status, SECRET.encode() if status != 304 else b""))

    with pytest.raises(kind) as failure:
        fetch_json(f"{url}?token={SECRET}")

    error = failure.value
    assert (error.code, error.retryable, error.error_type) == (code, retryable, error_type)
    assert "127.0.0.1" in str(error)
    assert SECRET not in str(error)
    assert fetch(url).status == status


def test_it_hands_on_how_long_a_busy_site_wants_to_be_left_alone(board: BoardServer) -> None:
    with pytest.raises(SourceUnavailable) as failure:
        fetch_json(board.set_route("/jobs", reply_status(429, retry_after="120")))

    assert failure.value.retry_after == 120.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0), (" 5 ", 5.0), ("999999999999999999", 86_400.0), ("", None), ("soon", None), ("-5", None),
        ("Sun, 29 Nov 2026 12:10:00 GMT", 600.0), ("Sun, 29 Nov 2020 12:00:00 GMT", 0.0),
    ],
)  # fmt: skip
def test_it_reads_retry_after_in_both_forms(value: str, seconds: float | None) -> None:
    assert read_retry_after(value, now=datetime(2026, 11, 29, 12, tzinfo=UTC)) == seconds


@pytest.mark.parametrize(
    ("reply", "code", "retryable"),
    [
        (Reply(), "EMPTY_BODY", True),
        (Reply(body=b" \n"), "EMPTY_BODY", True),
        (Reply(204), "EMPTY_BODY", True),
        (reply_html(f"<html>{SECRET}</html>"), "HTML_INSTEAD_OF_JSON", True),
        (Reply(body=b"<!doctype html>"), "HTML_INSTEAD_OF_JSON", True),
        (reply_html("{}"), "HTML_INSTEAD_OF_JSON", True),
        (reply_truncated({"jobs": [{"title": "Engineer"}] * 20}), "TRUNCATED_JSON", True),
        (Reply(body=b'{"title": "Engin'), "TRUNCATED_JSON", True),
        (Reply(body=b'{"a": 1'), "TRUNCATED_JSON", True),
        (Reply(body=b'{"a": }'), "INVALID_JSON", False),
        (Reply(body=b'{"a": NaN}'), "INVALID_JSON", False),
        (Reply(body=b'{"a": -Infinity}'), "INVALID_JSON", False),
        (Reply(body=b'{"a": "\xff\xfe"}'), "INVALID_JSON", False),
        (Reply(body=b"1" * 5000), "INVALID_JSON", False),
        (Reply(body=b"[" * 200_000), "JSON_TOO_DEEP", False),
        (Reply(body=b"x", headers={"Content-Encoding": "br"}), "UNSUPPORTED_ENCODING", False),
        (Reply(body=b"no gzip", headers={"Content-Encoding": "gzip"}), "DAMAGED_ENCODING", False),
    ],
)
def test_it_names_what_is_wrong_with_the_content(reply: Reply, code: str, retryable: bool, board: BoardServer) -> None:
    with pytest.raises(BadContent) as failure:
        fetch_json(board.set_route("/jobs", reply))

    assert (failure.value.code, failure.value.retryable) == (code, retryable)
    assert SECRET not in str(failure.value)


def test_it_reads_json_with_a_mark_and_takes_the_last_of_two_keys(board: BoardServer) -> None:
    url = board.set_route("/jobs", Reply(body=b'\xef\xbb\xbf{"a": 1, "a": 2}', content_type="text/plain"))

    assert fetch_json(url) == {"a": 2}


def test_it_inflates_gzip_in_one_member_or_several(board: BoardServer) -> None:
    payload = {"jobs": ["ä" * 100] * 100}
    assert fetch_json(board.set_route("/one", reply_gzip(json.dumps(payload).encode()))) == payload

    two = Reply(body=gzip.compress(b"[1,") + gzip.compress(b"2]"), headers={"Content-Encoding": "gzip"})
    assert fetch_json(board.set_route("/two", two)) == [1, 2]


def test_it_refuses_a_body_over_the_limit(board: BoardServer) -> None:
    url = board.set_route("/jobs", reply_big())

    with pytest.raises(TooLarge) as failure:
        fetch(url)
    assert not failure.value.retryable

    with pytest.raises(TooLarge):
        fetch(board.set_route("/lied", Reply(body=b"x" * 2000, headers={"Content-Length": "5000"})), max_bytes=1999)
    assert len(fetch(url, max_bytes=10_000_000).body) == 10_000_000


def test_it_refuses_a_gzip_bomb_early(board: BoardServer) -> None:
    bomb = gzip.compress(b"\0" * 100_000_000)
    assert len(bomb) < 200_000
    url = board.set_route("/jobs", Reply(body=bomb, headers={"Content-Encoding": "gzip"}))

    began = time.monotonic()
    with pytest.raises(TooLarge):
        fetch(url, max_bytes=1_000_000)
    assert time.monotonic() - began < 1.0


def test_it_inflates_no_more_of_a_bomb_than_the_limit() -> None:
    bomb = gzip.compress(bytes(30_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            read_body([bomb], encoding="gzip", max_bytes=100_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 2_000_000


def test_it_does_not_read_all_of_a_large_error_page(board: BoardServer) -> None:
    url = board.set_route("/jobs", Reply(404, b"x" * 9_000_000))

    assert fetch(url).status == 404
    with pytest.raises(NotFound):
        fetch_json(url)


@pytest.mark.parametrize("dribbled", ["body", "nothing"])
def test_it_ends_at_the_deadline_whatever_the_server_does(dribbled: str, board: BoardServer) -> None:
    slow = reply_dribble(reply_json("x" * 5000), seconds=0.02) if dribbled == "body" else reply_hang(30)
    url = board.set_route("/jobs", slow)

    began = time.monotonic()
    with pytest.raises(NetworkFailure) as failure:
        fetch(url, timeout_seconds=0.5)

    assert 0.4 < time.monotonic() - began < 2.0
    assert (failure.value.code, failure.value.retryable) == ("TIMED_OUT", True)


def test_it_counts_redirects_into_the_deadline(board: BoardServer) -> None:
    for step in range(10):
        board.set_route(f"/{step}", Reply(302, headers={"Location": f"/{step + 1}"}, hang_seconds=0.2))

    with pytest.raises(NetworkFailure):
        fetch(f"{board.url}/0", timeout_seconds=0.5)
    assert len(board.requests) < 5


def test_it_ends_at_the_deadline_when_headers_dribble(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        settings.JOBCTRL_ALLOW_PRIVATE_HOSTS = [f"127.0.0.1:{port}"]

        def dribble() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\nX-Pad: ")
                try:
                    for _ in range(100):
                        connection.sendall(b"x")
                        time.sleep(0.02)
                except OSError:
                    return

        thread = threading.Thread(target=dribble, daemon=True)
        thread.start()
        began = time.monotonic()
        with pytest.raises(NetworkFailure):
            fetch(f"http://127.0.0.1:{port}/", timeout_seconds=0.4)
        assert time.monotonic() - began < 1.5
        thread.join(5)


@pytest.mark.parametrize("slow", ["hang", "dribble"])
def test_it_stops_soon_after_it_is_cancelled(slow: str, board: BoardServer) -> None:
    reply = reply_hang(30) if slow == "hang" else reply_dribble(reply_json("x" * 5000), seconds=0.02)
    url = board.set_route("/jobs", reply)
    stop_at = time.monotonic() + 0.4

    with pytest.raises(FetchCancelled):
        fetch(url, cancelled=lambda: time.monotonic() > stop_at)
    assert time.monotonic() - stop_at < 1.0


def test_it_makes_no_connection_when_cancelled_before(board: BoardServer) -> None:
    with pytest.raises(FetchCancelled):
        fetch(board.set_route("/jobs", reply_json([])), cancelled=lambda: True)

    assert board.connections == 0


def test_it_does_not_wait_for_a_stuck_resolver(settings: Settings) -> None:
    release = threading.Event()

    def resolve(host: str, port: int) -> list[str]:
        release.wait(30)
        return []

    began = time.monotonic()
    with pytest.raises(NetworkFailure) as failure:
        fetch("https://jobs.example.com/", timeout_seconds=0.3, network=Network(resolve=resolve))
    release.set()

    assert time.monotonic() - began < 1.5
    assert failure.value.code == "TIMED_OUT"


def test_it_reports_a_refused_and_a_cut_connection_as_passing(board: BoardServer, settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        host_port = f"127.0.0.1:{closed.getsockname()[1]}"
    settings.JOBCTRL_ALLOW_PRIVATE_HOSTS = [host_port, board.host_port]

    with pytest.raises(NetworkFailure) as refused:
        fetch(f"http://{host_port}/")
    with pytest.raises(NetworkFailure) as cut:
        fetch(board.set_route("/jobs", reply_cut_off({"jobs": [1, 2, 3]})))
    half = gzip.compress(b"[1, 2, 3]" * 50)[:-12]
    with pytest.raises(NetworkFailure) as halved:
        fetch(board.set_route("/half", Reply(body=half, headers={"Content-Encoding": "gzip"})))

    assert [error.value.code for error in (refused, cut, halved)] == [
        "CONNECT_FAILED",
        "CONNECTION_LOST",
        "CONNECTION_LOST",
    ]
    assert all(error.value.error_type == "transient_network" for error in (refused, cut, halved))


def test_it_tries_the_next_address_when_one_does_not_answer(board: BoardServer, settings: Settings) -> None:
    settings.JOBCTRL_ALLOW_PRIVATE_HOSTS = [f"board.example.com:{board.port}"]
    board.set_route("/jobs", reply_json([1]))
    network = Network(resolve=lambda host, port: ["::1", "127.0.0.2", "127.0.0.1"])

    assert fetch_json(f"http://board.example.com:{board.port}/jobs", network=network) == [1]


def test_it_gives_up_on_endless_redirects(board: BoardServer) -> None:
    url = board.set_route("/loop", reply_redirect("/loop"))

    with pytest.raises(BadContent) as failure:
        fetch(url)

    assert failure.value.code == "TOO_MANY_REDIRECTS"
    assert len(board.requests) == 6


def test_it_succeeds_when_the_board_recovers(board: BoardServer) -> None:
    url = board.fail_first("/jobs", 2, failure=reply_status(500), success=reply_json([1]))

    for _ in range(2):
        with pytest.raises(SourceUnavailable):
            fetch_json(url)
    assert fetch_json(url) == [1]


def test_it_serves_threads_at_once(board: BoardServer) -> None:
    url = board.set_route("/jobs", Reply(body=b"[1]", hang_seconds=0.2))
    got: list[object] = []
    threads = [threading.Thread(target=lambda: got.append(fetch_json(url))) for _ in range(8)]

    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert got == [[1]] * 8
    assert time.monotonic() - began < timedelta(seconds=1.5).total_seconds()


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("Größe".encode(), "text/html; charset=utf-8", "Größe"),
        ("Größe".encode("latin-1"), 'text/html; charset="ISO-8859-1"', "Größe"),
        ("Größe".encode("latin-1"), "text/html", "Größe"),
        (
            b"<p>" * 3000 + '<meta charset="windows-1250">Růže'.encode("cp1250"),
            "text/html",
            "<p>" * 3000 + '<meta charset="windows-1250">Růže',
        ),
        ("Größe".encode("utf-16"), "text/html", "Größe"),
        ("Größe der Schlüssel ".encode() + b"\xff", "text/html", "Größe der Schlüssel \N{REPLACEMENT CHARACTER}"),
        (
            '<script charset="iso-8859-1" src=x></script>Größe'.encode(),
            "text/html",
            '<script charset="iso-8859-1" src=x></script>Größe',
        ),
        ('<form accept-charset="ISO-8859-1">Größe'.encode(), "text/html", '<form accept-charset="ISO-8859-1">Größe'),
        ('<meta charset="utf-16">Größe'.encode(), "text/html", '<meta charset="utf-16">Größe'),
        ("Разработчик".encode("cp1251"), "text/html", "\N{REPLACEMENT CHARACTER}" * 11),
        ("\ufeffGröße".encode("utf-16-be"), "text/html; charset=utf-8", "Größe"),
        ('<meta charset="windows-1250">Růže'.encode("cp1250"), "text/html", '<meta charset="windows-1250">Růže'),
        ("Größe".encode(), "text/html; charset=nonsense", "Größe"),
        (b"\xef\xbb\xbfa\xff", "text/html", "a\N{REPLACEMENT CHARACTER}"),
        (b"abc", "text/html; charset=hex", "abc"),
    ],
)
def test_it_decodes_pages_by_what_they_say_of_themselves(
    body: bytes, content_type: str, text: str, board: BoardServer
) -> None:
    url = board.set_route("/page", Reply(body=body, content_type=content_type))

    assert fetch(url, accept="text/html").decode_text() == text
    assert board.requests[0].headers["accept"] == "text/html"
