"""The virtual environment: created when missing, filled again only when the requirements changed."""

from __future__ import annotations  # an older Python must get as far as being told so

import fcntl
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MINIMUM_PYTHON = (3, 11)
REQUIREMENTS = {
    "runtime": ("requirements.txt",),
    "development": ("requirements.txt", "requirements-dev.txt"),
}
STAMP_NAME = "jobctrl-installed.json"
#: The one of Python 3.11 takes twice as long: it weighs every file of every package's page.
PIP = "pip==26.3"


class BootstrapError(Exception):
    """The machine lacks something; the message names it and the command that brings it."""


def require_python(version: tuple[int, ...] = sys.version_info[:3]) -> None:
    if version[:2] < MINIMUM_PYTHON:
        wanted = ".".join(map(str, MINIMUM_PYTHON))
        found = ".".join(map(str, version[:3]))
        raise BootstrapError(
            f"jobctrl needs Python {wanted} or later; {sys.executable} is {found}. "
            f"Name a newer one: make PYTHON=/path/to/python{wanted} ..."
        )


def ensure_environment(root: Path, *, requirements: str) -> bool:
    """Create ``.venv`` and install the named set of requirements; true if anything had to be installed.

    Raises:
        BootstrapError: no ``ensurepip`` on this Python, or pip failed.
    """
    environment = root / ".venv"
    if _is_current(environment, root=root, requirements=requirements):
        return False
    with _hold_folder(root):
        if _is_current(environment, root=root, requirements=requirements):  # another make was first
            return False
        _create_environment(environment)
        _install_requirements(environment, root=root, requirements=requirements)
        _write_stamp(environment, root=root, requirements=requirements)
    return True


def compute_digest(root: Path, *, requirements: str) -> str:
    """SHA-256 over the requirement files of a set: what the stamp remembers."""
    digest = hashlib.sha256()
    for name in REQUIREMENTS[requirements]:
        content = (root / name).read_bytes()
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _is_current(environment: Path, *, root: Path, requirements: str) -> bool:
    if not (environment / "bin" / "python").exists():  # false for a link to a Python that was removed
        return False
    return _read_stamp(environment).get(requirements) == compute_digest(root, requirements=requirements)


def _read_stamp(environment: Path) -> dict[str, str]:
    try:
        stamp = json.loads((environment / STAMP_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def _write_stamp(environment: Path, *, root: Path, requirements: str) -> None:
    installed = {"runtime", requirements}
    stamp = {name: compute_digest(root, requirements=name) for name in sorted(installed)}
    partial = environment / f"{STAMP_NAME}.new"
    partial.write_text(json.dumps(stamp), encoding="utf-8")
    partial.replace(environment / STAMP_NAME)


def _create_environment(environment: Path) -> None:
    if _has_pip(environment):
        return
    if importlib.util.find_spec("ensurepip") is None:
        prefix = "" if os.geteuid() == 0 else "sudo "
        raise BootstrapError(
            f"{sys.executable} cannot create a virtual environment: ensurepip is missing. "
            f"On Debian it is in the package python3-venv: {prefix}apt-get install python3-venv"
        )
    print(f"Creating {environment}", file=sys.stderr)
    _run(
        [sys.executable, "-m", "venv", "--clear", str(environment)], failure="The virtual environment was not created."
    )


def _has_pip(environment: Path) -> bool:
    python = environment / "bin" / "python"
    if not python.exists():
        return False
    return subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0


def _install_requirements(environment: Path, *, root: Path, requirements: str) -> None:
    name = REQUIREMENTS[requirements][-1]
    print(f"Installing {name} (a few minutes the first time)", file=sys.stderr)
    options = ["--disable-pip-version-check", "--root-user-action=ignore", "--quiet"]
    install = [str(environment / "bin" / "python"), "-m", "pip", "install", *options]
    renewed = subprocess.run([*install, PIP], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if renewed.returncode:
        print(f"Going on without {PIP}: {''.join(renewed.stderr.splitlines()[-1:])}", file=sys.stderr)
    # Python compiles what is imported; most of what these packages bring never is.
    _run(
        [*install, "--no-compile", "-r", str(root / name)],
        failure=f"pip could not install {name}; its message is above.",
    )


def _run(command: list[str], *, failure: str) -> None:
    """Everything the command prints goes to stderr: stdout belongs to what the operator asked for."""
    if subprocess.run(command, stdout=sys.stderr, stdin=subprocess.DEVNULL, check=False).returncode:
        raise BootstrapError(failure)


@contextmanager
def _hold_folder(root: Path) -> Iterator[None]:
    descriptor = os.open(root, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
