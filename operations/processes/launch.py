"""Run a command that dies with its parent: ``python launch.py PARENT_PID COMMAND [ARGUMENT ...]``.

The death signal is set here, in the child, and survives ``exec``: a preexec function would run Python between
``fork`` and ``exec``, which is unsafe in a threaded parent. Standard library only, so that it starts in
milliseconds. Linux only; elsewhere the command runs without the death signal.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
COMMAND_NOT_STARTED = 127


def tie_to_parent(parent_pid: int) -> None:
    """Ask the kernel for SIGKILL when the thread that forked this process ends."""
    if not sys.platform.startswith("linux"):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent_pid:  # the parent died before the line above
        os._exit(COMMAND_NOT_STARTED)


def main(arguments: list[str]) -> int:
    parent_pid, *command = arguments
    tie_to_parent(int(parent_pid))
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]} cannot be started: {error.strerror}", file=sys.stderr)
    return COMMAND_NOT_STARTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
