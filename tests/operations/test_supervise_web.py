"""The web app as a part of ``manage.py up``: its address, its sign-in link, its end."""

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from operations.processes.ports import LOOPBACK, PortTaken, choose_free_port
from operations.processes.web_server import (
    ADDRESS_FILE,
    BadAddress,
    WebAddress,
    choose_address,
    is_web_serving,
    parse_address,
    resolve_base_url,
)
from tests.template import Template
from tests.up import own_environment, run_up


@pytest.mark.parametrize(
    ("text", "host", "port", "base_url"),
    [
        ("127.0.0.1:8420", "127.0.0.1", 8420, "http://127.0.0.1:8420"),
        (" localhost:80 ", "localhost", 80, "http://localhost:80"),
        (":9000", "127.0.0.1", 9000, "http://127.0.0.1:9000"),
        ("0.0.0.0:9000", "0.0.0.0", 9000, "http://127.0.0.1:9000"),
        ("[::1]:9000", "::1", 9000, "http://[::1]:9000"),
        ("[::]:9000", "::", 9000, "http://127.0.0.1:9000"),
    ],
)
def test_it_reads_an_address(text: str, host: str, port: int, base_url: str) -> None:
    address = parse_address(text)
    assert (address.host, address.port, address.base_url) == (host, port, base_url)


@pytest.mark.parametrize(
    "text", ["", "8420", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "a:65536", "a:-1", "a:٣", "a:1e3"]
)
def test_it_says_what_an_address_looks_like(text: str) -> None:
    with pytest.raises(BadAddress, match=r"Write it like 127\.0\.0\.1:8420"):
        parse_address(text)


def test_it_keeps_a_free_port_while_nobody_takes_it(tmp_path: Path) -> None:
    with pytest.raises(BadAddress, match=r"manage\.py up"):
        resolve_base_url(tmp_path, setting="127.0.0.1:0")
    first = choose_address(tmp_path, setting="127.0.0.1:0")
    assert choose_address(tmp_path, setting="127.0.0.1:0") == first
    assert resolve_base_url(tmp_path, setting="127.0.0.1:0") == first.base_url
    with socket.create_server((LOOPBACK, first.port)):
        assert choose_address(tmp_path, setting="127.0.0.1:0") != first
    (tmp_path / ADDRESS_FILE).write_text("nonsense")
    assert choose_address(tmp_path, setting="127.0.0.1:0").port > 0


def test_it_says_who_has_its_port_and_refuses_a_foreign_address(tmp_path: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(
            PortTaken, match=rf"Port {port} on 127\.0\.0\.1, wanted for the web app, .* pid {os.getpid()} "
        ):
            choose_address(tmp_path, setting=f"127.0.0.1:{port}")
    with pytest.raises(BadAddress, match="nothing can listen on 203"):
        choose_address(tmp_path, setting="203.0.113.9:8420")


def test_another_program_on_the_port_is_not_taken_for_the_web_app(tmp_path: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as other:
        address = WebAddress(LOOPBACK, other.getsockname()[1])

        def answer() -> None:
            peer, _ = other.accept()
            with peer:
                peer.recv(1000)
                peer.sendall(b"HTTP/1.0 200 OK\r\n\r\nhello")

        threading.Thread(target=answer, daemon=True).start()
        assert not is_web_serving(address)


@pytest.fixture
def environment(tmp_path: Path, template: Template) -> Iterator[dict[str, str]]:
    with own_environment(tmp_path / "home", template) as chosen:
        yield chosen


@pytest.mark.worker
@pytest.mark.sqlite_alone
def test_up_starts_nothing_while_its_web_port_is_taken(environment: dict[str, str]) -> None:
    port = choose_free_port()
    with socket.create_server((LOOPBACK, port)):
        refused = run_up({**environment, "JOBCTRL_WEB_ADDRESS": f"127.0.0.1:{port}"})
    assert refused.returncode == 1
    assert f"is taken by pid {os.getpid()}" in refused.stderr
    assert "running" not in refused.stdout
    wrong = run_up({**environment, "JOBCTRL_WEB_ADDRESS": "nowhere"})
    assert wrong.returncode == 1
    assert "Write it like" in wrong.stderr
    assert "Traceback" not in wrong.stderr
