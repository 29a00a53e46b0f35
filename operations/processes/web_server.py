"""The web part: daphne's command line, its address and its health."""

import json
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import psutil

from operations.processes.ports import LOOPBACK, PortTaken, choose_free_port, describe_port_owner, is_port_free
from operations.processes.presence import WEB, list_ports, list_present

ADDRESS_FILE = "web.address"
ANSWER_SECONDS = 3.0
WILDCARDS = ("0.0.0.0", "::")


class BadAddress(RuntimeError):
    """JOBCTRL_WEB_ADDRESS cannot be used."""


@dataclass(frozen=True, slots=True)
class WebAddress:
    """Where the web process listens. ``host`` is without brackets."""

    host: str
    port: int

    @property
    def netloc(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def base_url(self) -> str:
        """How a browser on this machine reaches it."""
        host = LOOPBACK if self.host in WILDCARDS else self.host
        return f"http://{WebAddress(host, self.port).netloc}"


def parse_address(text: str) -> WebAddress:
    """``host:port``, ``[v6]:port`` or ``:port`` (this machine only).

    Raises:
        BadAddress: with what is expected.
    """
    host, colon, port = text.strip().rpartition(":")
    if not colon or not (port.isascii() and port.isdigit()) or int(port[:6]) > 65535:
        raise BadAddress(
            f"JOBCTRL_WEB_ADDRESS {text!r} is not an address. Write it like 127.0.0.1:8420; port 0 takes a free one."
        )
    return WebAddress(host.strip("[]") or LOOPBACK, int(port))


def find_web(root: Path, address: WebAddress) -> psutil.Process | None:
    """This workspace's web process that listens on the address's port."""
    return next((process for process in list_present(root, WEB) if address.port in list_ports(process)), None)


def choose_address(root: Path, *, setting: str) -> WebAddress:
    """Where to listen; for port 0 a free one, kept in the workspace while nobody else takes it. A port on which this
    workspace's own web process listens already is as good as a free one.

    Raises:
        BadAddress, PortTaken: saying what is wrong or by whom it is taken, and what to do.
    """
    wanted = parse_address(setting)
    if wanted.port:
        if not _is_free(wanted) and not find_web(root, wanted):
            raise PortTaken(
                f"Port {wanted.port} on {wanted.host}, wanted for the web app, is taken by "
                f"{describe_port_owner(wanted.port)}. Stop it, or set JOBCTRL_WEB_ADDRESS={wanted.host}:0 for a free "
                "port."
            )
        return wanted
    kept = WebAddress(wanted.host, _read_kept_port(root))
    port = kept.port if kept.port and (_is_free(kept) or find_web(root, kept)) else choose_free_port()
    chosen = WebAddress(wanted.host, port)
    if port != kept.port:
        (root / ADDRESS_FILE).write_text(f"{chosen.netloc}\n", encoding="utf-8")
    return chosen


def resolve_base_url(root: Path, *, setting: str) -> str:
    """Where the running web app is reached.

    Raises:
        BadAddress: the setting cannot be read, or asks for a free port and none was chosen yet.
    """
    wanted = parse_address(setting)
    port = wanted.port or _read_kept_port(root)
    if not port:
        raise BadAddress("The web app has not been started here yet. Run: manage.py up")
    return WebAddress(wanted.host, port).base_url


def build_web_argv(address: WebAddress) -> tuple[str, ...]:
    # No access log: it would keep sign-in links.
    return (
        *(sys.executable, "-m", "daphne", "--verbosity", "0"),
        *("--bind", address.host, "--port", str(address.port)),
        "jobctrl.asgi:application",
    )


def is_web_serving(address: WebAddress) -> bool:
    """Whether the web app there answers ``GET /v1/health`` with 200."""
    try:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{address.base_url}/v1/health", timeout=ANSWER_SECONDS) as answer:
            return answer.status == 200 and "process" in json.load(answer)
    except (OSError, ValueError):
        return False


def _is_free(address: WebAddress) -> bool:
    try:
        return is_port_free(address.port, ip=address.host)
    except OSError as error:
        raise BadAddress(
            f"JOBCTRL_WEB_ADDRESS: nothing can listen on {address.netloc} ({error.strerror}). Use an address of this "
            f"machine, as {LOOPBACK}:{address.port}."
        ) from error


def _read_kept_port(root: Path) -> int:
    try:
        return int((root / ADDRESS_FILE).read_text(encoding="utf-8").rpartition(":")[2])
    except (OSError, ValueError):
        return 0
