"""TCP ports on this machine: a free one, and who holds a taken one."""

import errno
import socket

from operations.processes.presence import describe_process, find_listener

LOOPBACK = "127.0.0.1"


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


def describe_port_owner(port: int) -> str:
    """Name the listener as ``pid 12 (its command line)``, or ``another process`` where it cannot be seen."""
    owner = find_listener(port)
    return "another process" if owner is None else describe_process(owner)
