"""Which processes of this machine work in a workspace: they keep a file of it open.

The kernel closes a file however its process ends, so this is never out of date, and a process that has not said
anything yet (no heartbeat, no port) is seen as well.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psutil

WORKER: Final = "worker"
WEB: Final = "web"
COMMAND_LENGTH: Final = 120

_kept: dict[Path, int] = {}


def mark_presence(root: Path, name: str) -> None:
    """Keep the workspace's file for ``name`` open for as long as this process lives. Safe to repeat.

    Raises:
        OSError: the folder cannot be written.
    """
    file = _find_mark(root, name)
    if file not in _kept:
        # Never closed, and not inherited by what this process starts.
        _kept[file] = os.open(file, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)


def list_present(root: Path, name: str) -> list[psutil.Process]:
    """The processes that called ``mark_presence``, this one left out, the oldest first."""
    return [process for process in list_holders(_find_mark(root, name)) if process.pid != os.getpid()]


def list_holders(file: Path) -> list[psutil.Process]:
    """The processes that have ``file`` open, the oldest first; another user's cannot be seen."""
    wanted = os.path.realpath(file)
    return sorted(
        (process for process in psutil.process_iter() if wanted in _list_open(process)), key=psutil.Process.create_time
    )


def find_listener(port: int) -> psutil.Process | None:
    """The process that listens on the TCP port; ``None`` where there is none or it is another user's."""
    for process in psutil.process_iter():
        if port in list_ports(process):
            return process
    return None


def list_ports(process: psutil.Process) -> set[int]:
    """The TCP ports on which it listens; none where it has ended or is another user's."""
    try:
        connections = process.net_connections("tcp")
    except psutil.Error:
        return set()
    return {connection.laddr.port for connection in connections if connection.status == psutil.CONN_LISTEN}


def describe_process(process: psutil.Process) -> str:
    """``pid 12 (its command line)``."""
    return f"pid {process.pid} ({' '.join(read_command(process))[:COMMAND_LENGTH] or 'unknown command'})"


def read_command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def is_alive(process: psutil.Process) -> bool:
    """Whether this very process runs: not a later one with its number, nor a zombie that nobody has reaped."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _find_mark(root: Path, name: str) -> Path:
    return root / f"{name}.running"


def _list_open(process: psutil.Process) -> Iterator[str]:
    try:
        files = process.open_files()
    except psutil.Error:
        return
    yield from (file.path for file in files)
