"""TCP ports on this machine: a free one, and who holds a taken one."""

import errno
import os
import socket
from pathlib import Path

LOOPBACK = "127.0.0.1"
LISTENING = "0A"
COMMAND_LENGTH = 120


class PortTaken(RuntimeError):
    """Another process listens on the wanted port."""


def choose_free_port(ip: str = LOOPBACK) -> int:
    with socket.socket() as probe:
        probe.bind((ip, 0))
        port: int = probe.getsockname()[1]
        return port


def is_port_free(port: int, *, ip: str = LOOPBACK) -> bool:
    """Whether a server could listen there now; a connection in TIME_WAIT does not count."""
    with socket.socket(socket.AF_INET6 if ":" in ip else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ip, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise
        return True


def parse_listeners(table: str, port: int) -> frozenset[str]:
    """Socket inodes that listen on ``port``, from the text of /proc/net/tcp or tcp6 (proc(5))."""
    inodes = set()
    for line in table.splitlines()[1:]:
        fields = line.split()
        if len(fields) < 10 or fields[3] != LISTENING:
            continue
        if int(fields[1].rpartition(":")[2], 16) == port:
            inodes.add(fields[9])
    return frozenset(inodes)


def describe_port_owner(port: int, *, proc: Path = Path("/proc")) -> str:
    """Name the listener as ``pid 12 (its command line)``, or ``another process`` where it cannot be seen."""
    sockets = {f"socket:[{inode}]" for name in ("tcp", "tcp6") for inode in _read_listeners(proc / "net" / name, port)}
    if sockets:
        for folder in proc.iterdir():
            if folder.name.isdigit() and _holds_any(folder / "fd", sockets):
                return f"pid {folder.name} ({_read_command(folder)})"
    return "another process"


def _read_listeners(table: Path, port: int) -> frozenset[str]:
    try:
        return parse_listeners(table.read_text(encoding="ascii"), port)
    except OSError:
        return frozenset()


def _holds_any(descriptors: Path, sockets: set[str]) -> bool:
    try:
        names = os.listdir(descriptors)
    except OSError:
        return False
    for name in names:
        try:
            if os.readlink(descriptors / name) in sockets:
                return True
        except OSError:
            continue
    return False


def _read_command(process: Path) -> str:
    try:
        words = (process / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    except OSError:
        return "unknown command"
    return " ".join(word.decode(errors="replace") for word in words)[:COMMAND_LENGTH]
