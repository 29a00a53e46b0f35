"""A Chromium for the PDFs and a font for Chinese, Japanese and Korean: found, installed on Debian as root, or named.

The product looks for them in the same places (``materials/chromium.py``).
"""

from __future__ import annotations  # an older Python must get as far as being told so

import os
import shutil
import subprocess
import sys
from pathlib import Path

HEADLESS = Path("/usr/lib/chromium/chromium-headless-shell")
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FONT_PACKAGE = "fonts-noto-cjk"
BROWSER_PACKAGE = "chromium"
FONT_FOLDERS = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path.home() / ".local" / "share" / "fonts")


def find_chromium(root: Path) -> str | None:
    """The chosen program, else Debian's headless one, else the first known name on PATH.

    ``None`` also when the chosen one is no program.
    """
    chosen = read_chosen_path(root)
    if chosen:
        path = Path(chosen).expanduser()
        return str(path) if path.is_file() and os.access(path, os.X_OK) else None
    return str(HEADLESS) if HEADLESS.is_file() else next(filter(None, map(shutil.which, PROGRAMS)), None)


def read_chosen_path(root: Path) -> str:
    """``CHROMIUM_PATH`` of the environment, else of ``.env``."""
    return os.environ.get("CHROMIUM_PATH") or read_setting(root / ".env", "CHROMIUM_PATH")


def has_cjk_font(folders: tuple[Path, ...] = FONT_FOLDERS) -> bool:
    """Whether fontconfig knows a Japanese font; where its program is missing, whether a font file says CJK."""
    if sys.platform == "darwin":  # ships such fonts
        return True
    program = shutil.which("fc-list")
    if program is None:
        return any("cjk" in file.name.lower() for folder in folders for file in folder.rglob("*.[to]t[cf]"))
    answer = subprocess.run([program, ":lang=ja", "family"], capture_output=True, timeout=30, check=False)
    return bool(answer.stdout.strip())


def ensure_browser(root: Path) -> dict[str, str]:
    """Install what is missing where that may be done; what is missing afterwards, each package with its remedy."""
    missing = list_missing_packages(root)
    wrongly_chosen = BROWSER_PACKAGE in missing and bool(read_chosen_path(root))
    to_install = [package for package in missing if not (package == BROWSER_PACKAGE and wrongly_chosen)]
    if to_install and may_install():
        install_packages(to_install)
        missing = list_missing_packages(root)
    return {package: describe_remedy(package, root=root) for package in missing}


def list_missing_packages(root: Path) -> list[str]:
    missing = []
    if find_chromium(root) is None:
        missing.append(BROWSER_PACKAGE)
    if not has_cjk_font():
        missing.append(FONT_PACKAGE)
    return missing


def may_install(*, os_release: Path = Path("/etc/os-release")) -> bool:
    """Root on Debian itself: Ubuntu's package of the same name only points to a snap."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return False
    return read_setting(os_release, "ID") == "debian"


def install_packages(packages: list[str]) -> None:
    print(f"Installing {' '.join(packages)}", file=sys.stderr)
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    if _run_apt(install):
        return
    _run_apt(["apt-get", "update"])  # a fresh container has no package lists yet
    _run_apt(install)


def describe_remedy(package: str, *, root: Path) -> str:
    command = f"{'' if os.geteuid() == 0 else 'sudo '}apt-get install {package}"
    if package == FONT_PACKAGE:
        return (
            "No font for Chinese, Japanese and Korean was found; documents with such text are refused. "
            f"On Debian: {command}"
        )
    chosen = read_chosen_path(root)
    if chosen:
        return f"CHROMIUM_PATH is {chosen}, which is not a program. Correct it, or unset it to use the one on PATH."
    return (
        f"No Chromium was found; PDFs need one. On Debian: {command}. "
        "Elsewhere: install Chromium or Chrome and set CHROMIUM_PATH to the program."
    )


def read_setting(file: Path, name: str) -> str:
    """The value of ``NAME=value`` in a file of such lines, without quotes; empty when it is not there."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    for line in lines:
        key, separator, value = line.strip().removeprefix("export ").partition("=")
        if separator and key.strip() == name:
            return value.strip().strip("\"'")
    return ""


def _run_apt(command: list[str]) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(command, stdout=sys.stderr, env=environment, check=False).returncode == 0
