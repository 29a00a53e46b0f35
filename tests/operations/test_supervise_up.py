"""``manage.py up`` as its operator meets it: real Temporal, a real worker, real signals."""

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from operations.processes.ports import choose_free_port
from operations.processes.presence import WEB, WORKER, list_present
from operations.processes.temporal_server import is_serving
from operations.processes.web_server import ADDRESS_FILE, choose_address, is_web_serving, parse_address
from tests.processes import is_process_alive, wait_until
from tests.template import Template
from tests.up import own_environment, read_pids, run_up, running_up
from tests.webserver import post_form

STOPPED = ["web: stopped", "worker: stopped", "temporal: stopped", "Stopped."]
LINK = re.compile(r"Sign in .*: (http://127\.0\.0\.1:\d+)(/sign-in/\?token=\S+)")

pytestmark = [pytest.mark.worker, pytest.mark.sqlite_alone]


@pytest.fixture
def environment(tmp_path: Path, template: Template) -> Iterator[dict[str, str]]:
    with own_environment(tmp_path / "home", template) as chosen:
        yield chosen


def test_it_runs_from_an_empty_home_until_it_is_told_to_stop(environment: dict[str, str], tmp_path: Path) -> None:
    home = tmp_path / "new"
    environment |= {"JOBCTRL_HOME": str(home), "JOBCTRL_TEMPORAL_UI_PORT": "0"}
    with running_up(environment) as (up, lines):
        pids = read_pids(lines)
        assert [line.split(":")[0] for line in lines[:4]] == ["workspace", "temporal", "worker", "web"]
        assert len(pids) == 3
        assert all(map(is_process_alive, pids))
        assert home.stat().st_mode & 0o777 == 0o700

        second = run_up(environment)
        assert second.returncode == 1
        assert f"already running on {home} (pid {up.pid})" in second.stderr
        assert all(map(is_process_alive, pids))

        assert_serves_temporals_pages(lines, web=pids[2])
        base, link = read_link(up)
        assert f"web: running at {base} (pid {pids[2]}" in "\n".join(lines)
        with httpx.Client(base_url=base, trust_env=False) as browser:
            assert_lets_in(browser, link, home=home)
            with browser.stream("GET", "/live/") as nudges:
                assert nudges.status_code == 200
                begun = time.monotonic()
                up.send_signal(signal.SIGINT)
                output, _ = up.communicate(timeout=60)
        assert up.returncode == 0
        assert time.monotonic() - begun < 20
        assert output.splitlines()[:4] == STOPPED
    assert not any(map(is_process_alive, pids))
    assert link.rpartition("=")[2] not in (home / "logs" / "web.log").read_text()


def assert_serves_temporals_pages(lines: list[str], *, web: int) -> None:
    """And a run's page would link there."""
    (url,) = re.findall(r"own pages at (http://127\.0\.0\.1:\d+)", "\n".join(lines))
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=10) as answer:
        assert b"<html" in answer.read()
    assert f"TEMPORAL_UI_URL={url}".encode() in Path(f"/proc/{web}/environ").read_bytes().split(b"\0")


def read_link(up: "subprocess.Popen[str]") -> tuple[str, str]:
    """Where the web app is, and the path of the sign-in link, of the line after everything was running."""
    assert up.stdout is not None
    found = LINK.match(up.stdout.readline())
    assert found
    return found[1], found[2]


def assert_lets_in(browser: httpx.Client, link: str, *, home: Path) -> None:
    health = browser.get("/v1/health").json()
    assert health["status"] == "ok", health
    entered = post_form(browser, link, to="/sign-in/", token=link.rpartition("=")[2])
    assert entered.status_code == 302
    wait_until(lambda: "lastSeenAt" in browser.get("/v1/health").json()["worker"], what="the session counts")
    details = browser.get("/v1/health").json()
    assert details["temporal"]["state"] == "reachable"
    assert details["worker"]["lastSeenAt"]
    assert str(home.parent) not in str(details)
    assert browser.get("/admin/").status_code == 200


def test_it_starts_killed_parts_again_and_leaves_none_when_it_is_killed(environment: dict[str, str]) -> None:
    home = Path(environment["JOBCTRL_HOME"])
    with running_up(environment) as (up, lines):
        first = temporal, worker, web = read_pids(lines)
        (address,) = re.findall(r"temporal: running at (\S+)", "\n".join(lines))
        os.kill(temporal, signal.SIGKILL)
        wait_until(lambda: not is_serving(address), what="Temporal is gone")
        wait_until(lambda: is_serving(address), what="Temporal is back at its address")
        assert is_process_alive(worker)
        assert is_process_alive(web)

        os.kill(web, signal.SIGKILL)
        web_address = parse_address((home / ADDRESS_FILE).read_text())
        wait_until(lambda: is_web_serving(web_address), what="a killed web process is started again", seconds=30)
        assert up.poll() is None
        first += [process.pid for part in (WORKER, WEB) for process in list_present(home, part)]
        assert len(first) == 5
        up.kill()
        output, _ = up.communicate(timeout=60)
    assert "temporal: ended with exit code -9; starting it again in 0.5 s" in output
    assert "web: ended with exit code -9; starting it again in 0.5 s" in output
    wait_until(lambda: not any(map(is_process_alive, first)), what="every part of the killed up is gone")
    wait_until(lambda: not is_serving(address), what="the second Temporal is gone")
    assert not is_web_serving(web_address)
    assert choose_address(home, setting="127.0.0.1:0") == web_address

    with running_up(environment) as (up, lines):
        second = read_pids(lines)
        os.kill(second[0], signal.SIGKILL)
        (address,) = re.findall(r"temporal: running at (\S+)", "\n".join(lines))
        wait_until(lambda: not is_serving(address), what="Temporal is gone")
        wait_until(lambda: is_serving(address), what="Temporal is back at its address")
        up.send_signal(signal.SIGTERM)
        output, _ = up.communicate(timeout=60)
        assert up.returncode == 0
        told = [line for line in output.splitlines() if line.lower().endswith(("stopped", "stopped."))]
        assert told == STOPPED
    assert not any(map(is_process_alive, second))
    assert len(second) == 3
    assert set(first).isdisjoint(second)


def test_it_says_who_has_its_port(environment: dict[str, str]) -> None:
    port = choose_free_port()
    program = (
        f"import socket, sys; s = socket.create_server(('127.0.0.1', {port})); print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        refused = run_up({**environment, "JOBCTRL_TEMPORAL_PORT": str(port)})
        assert refused.returncode == 1
        assert f"Port {port} on 127.0.0.1, wanted for Temporal, is taken by pid {other.pid}" in refused.stderr


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("JOBCTRL_HOME", "/proc/jobctrl", "JOBCTRL_HOME /proc/jobctrl cannot be written"),
        ("JOBCTRL_TEMPORAL_UI_PORT", "yes", "JOBCTRL_TEMPORAL_UI_PORT 'yes' is not a port. Write a number"),
        ("JOBCTRL_MINIMUM_FREE_MB", str(10**9), "MB are needed before work starts"),
    ],
)
def test_it_starts_nothing_where_it_could_not_work(
    environment: dict[str, str], tmp_path: Path, setting: str, value: str, message: str
) -> None:
    refused = run_up({**environment, "JOBCTRL_HOME": str(tmp_path / "new"), setting: value})
    assert refused.returncode == 1
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr
    assert "running" not in refused.stdout


def test_it_says_what_to_do_about_a_damaged_temporal_database(environment: dict[str, str]) -> None:
    file = Path(environment["JOBCTRL_HOME"]) / "temporal.db"
    file.parent.mkdir(mode=0o700, exist_ok=True)
    file.write_bytes(b"what a broken disk left " * 500)
    refused = run_up(environment)
    assert refused.returncode == 1
    assert f"{file} cannot be read as Temporal's database." in refused.stderr
    assert "manage.py restore, or move the file away" in refused.stderr
    assert "running" not in refused.stdout
    assert file.read_bytes().startswith(b"what a broken disk left")
