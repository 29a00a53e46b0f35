"""Where this machine keeps Chromium and its Chinese, Japanese and Korean font."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from django.conf import settings

#: Debian's chromium-headless-shell, which has no window to draw: it starts with a third of the processor time.
#: The script of that name on PATH stays between a program and its browser, so that neither could stop the other.
HEADLESS = Path("/usr/lib/chromium/chromium-headless-shell")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REMEDY = "Install it (Debian: apt-get install chromium) or set CHROMIUM_PATH to the program."
CJK_REMEDY = "Install a Chinese, Japanese and Korean font (Debian: apt-get install fonts-noto-cjk)."


class ChromiumMissing(Exception):
    """No Chromium was found on this machine."""


def find_chromium() -> Path:
    """``CHROMIUM_PATH`` if set, else ``HEADLESS``, else the first known name on PATH.

    Raises ``ChromiumMissing`` with the remedy.
    """
    chosen: str = settings.CHROMIUM_PATH
    if chosen:
        path = Path(chosen).expanduser()
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise ChromiumMissing(f"CHROMIUM_PATH is {chosen}, which is not a program. {REMEDY}")
        return path
    found = HEADLESS if HEADLESS.is_file() else next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise ChromiumMissing(f"No Chromium was found on PATH. {REMEDY}")
    return Path(found)


@cache
def find_cjk_font() -> bool:
    """Whether a font for Japanese is installed. Without fontconfig (macOS, which ships such fonts) it says yes."""
    program = shutil.which("fc-list")
    if program is None:
        return True
    try:
        answer = subprocess.run([program, ":lang=ja", "family"], capture_output=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return True
    return bool(answer.stdout.strip())
