"""From a bare clone to a running command: the virtual environment, Chromium, fonts, and what make prints where."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jobctrl.bootstrap.browser import ensure_browser, find_chromium, has_cjk_font, may_install, read_setting
from jobctrl.bootstrap.environment import BootstrapError, compute_digest, ensure_environment, require_python

ROOT = Path(__file__).resolve().parents[1]

MANAGE = """
import json, sys
print("a log line", file=sys.stderr)
print(json.dumps({"arguments": sys.argv[1:], "prefix": sys.prefix}))
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that leads PATH: fontconfig knows a font, apt-get only notes what it was asked."""
    folder = tmp_path / "programs"
    folder.mkdir()
    write_program(folder / "fc-list", "echo 'Some Sans CJK'")
    write_program(folder / "apt-get", f'echo "$@" >> {folder}/asked; exit 100')
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.delenv("CHROMIUM_PATH", raising=False)
    monkeypatch.setattr("jobctrl.bootstrap.browser.HEADLESS", folder / "headless")
    return folder


@pytest.fixture
def clone(tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone of this project's start-up files with no requirements, a demo of two lines and a Chromium."""
    folder = tmp_path / "clone"
    shutil.copytree(ROOT / "jobctrl" / "bootstrap", folder / "jobctrl" / "bootstrap")
    shutil.copy(ROOT / "Makefile", folder)
    (folder / "jobctrl" / "__init__.py").touch()
    (folder / "requirements.txt").touch()
    (folder / "requirements-dev.txt").write_text("-r requirements.txt\n")
    (folder / "manage.py").write_text(MANAGE)
    write_program(programs / "some-chromium", "exit 0")
    monkeypatch.setenv("CHROMIUM_PATH", str(programs / "some-chromium"))
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):  # the tests may themselves be run by make
        monkeypatch.delenv(name, raising=False)
    return folder


def write_program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def run_make(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["make", f"PYTHON={sys.executable}", *arguments]
    return subprocess.run(command, cwd=clone, capture_output=True, text=True, check=False)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_it_prints_only_the_summary_on_stdout_and_is_quick_the_second_time(clone: Path) -> None:
    first = run_make(clone, "demo", "ARGS=--headless --json")
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout) == {
        "arguments": ["demo", "--headless", "--json"],
        "prefix": str(clone / ".venv"),
    }
    assert "Installing requirements.txt" in first.stderr
    assert "a log line" in first.stderr

    begun = time.monotonic()
    second = run_make(clone, "demo", "ARGS=--json")
    assert time.monotonic() - begun < 1
    assert second.stderr == "a log line\n"

    (clone / "requirements.txt").write_text("# another version\n")
    third = run_make(clone, "demo")
    assert "Installing requirements.txt" in third.stderr
    assert "Creating" not in third.stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_it_stops_the_demo_without_a_chromium(clone: Path, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle_environment(clone)
    monkeypatch.setenv("CHROMIUM_PATH", "/nowhere/chromium")
    run = run_make(clone, "demo")
    assert run.returncode != 0
    assert run.stdout == ""
    assert "CHROMIUM_PATH is /nowhere/chromium, which is not a program." in run.stderr
    assert not (programs / "asked").exists()
    assert run_make(clone, "up").returncode == 0


def settle_environment(clone: Path) -> None:
    """As if everything were installed: this Python under the clone's name, and the stamp."""
    python = clone / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    stamp = {"runtime": compute_digest(clone, requirements="runtime")}
    (clone / ".venv" / "jobctrl-installed.json").write_text(json.dumps(stamp))


def test_it_names_python3_venv_where_ensurepip_is_missing(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BootstrapError, match=r"ensurepip is missing.*apt-get install python3-venv"):
        ensure_environment(clone, requirements="runtime")
    assert not (clone / ".venv").exists()


def test_it_does_not_count_a_failed_installation(
    clone: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does a pip that cannot be had stop it."""
    monkeypatch.setattr("jobctrl.bootstrap.environment.PIP", "pip==0.0.1")
    settle_environment(clone)
    (clone / "requirements.txt").write_text("not a requirement at all\n")
    for _ in range(2):
        with pytest.raises(BootstrapError, match=r"pip could not install requirements\.txt"):
            ensure_environment(clone, requirements="runtime")
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.count("Going on without pip==0.0.1: ERROR: ") == 2


def test_it_refuses_an_old_python() -> None:
    require_python((3, 11, 0))
    with pytest.raises(BootstrapError, match=r"needs Python 3\.11 or later; .* is 3\.10\.4"):
        require_python((3, 10, 4))


def test_it_notices_a_change_in_either_file(clone: Path) -> None:
    before = compute_digest(clone, requirements="development")
    (clone / "requirements-dev.txt").write_text("-r requirements.txt\npytest\n")
    after = compute_digest(clone, requirements="development")
    (clone / "requirements.txt").write_text("django\n")
    assert len({before, after, compute_digest(clone, requirements="development")}) == 3


def test_it_takes_the_chosen_chromium_of_the_env_file(tmp_path: Path, programs: Path) -> None:
    write_program(tmp_path / "chrome", "exit 0")
    (tmp_path / ".env").write_text(f'CHROMIUM_PATH="{tmp_path}/chrome"\n')
    assert find_chromium(tmp_path) == f"{tmp_path}/chrome"


def test_it_finds_a_chromium_on_the_path(tmp_path: Path, programs: Path) -> None:
    write_program(programs / "chromium", "exit 0")
    assert find_chromium(tmp_path) == f"{programs}/chromium"
    write_program(programs / "headless", "exit 0")
    assert find_chromium(tmp_path) == f"{programs}/headless"


@pytest.mark.parametrize("is_root", [True, False])
def test_it_installs_or_names_debians_packages(
    tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch, *, is_root: bool
) -> None:
    monkeypatch.setattr("jobctrl.bootstrap.browser.PROGRAMS", ("no-such-chromium",))
    monkeypatch.setattr("jobctrl.bootstrap.browser.may_install", lambda: is_root)
    monkeypatch.setattr("os.geteuid", lambda: 0 if is_root else 1000)
    write_program(programs / "fc-list", "exit 0")
    missing = ensure_browser(tmp_path)
    assert list(missing) == ["chromium", "fonts-noto-cjk"]
    prefix = "" if is_root else "sudo "
    assert f"On Debian: {prefix}apt-get install chromium" in missing["chromium"]
    assert f"On Debian: {prefix}apt-get install fonts-noto-cjk" in missing["fonts-noto-cjk"]
    asked = (programs / "asked").read_text().splitlines() if is_root else []
    install = "install --yes --no-install-recommends chromium fonts-noto-cjk"
    assert asked == ([install, "update", install] if is_root else [])


def test_it_finds_a_font_without_fontconfigs_program(
    tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    fonts = tmp_path / "fonts"
    assert not has_cjk_font((fonts,))
    (fonts / "opentype").mkdir(parents=True)
    (fonts / "opentype" / "NotoSansCJK-Regular.ttc").touch()
    assert has_cjk_font((fonts,))


@pytest.mark.parametrize(("text", "allowed"), [("ID=debian\n", True), ("ID=ubuntu\nID_LIKE=debian\n", False)])
def test_it_installs_on_debian_only(
    tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch, *, text: str, allowed: bool
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    (tmp_path / "os-release").write_text(text)
    assert may_install(os_release=tmp_path / "os-release") is allowed


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("CHROMIUM_PATH=/usr/bin/chromium", "/usr/bin/chromium"),
        ("export CHROMIUM_PATH='/opt/my chrome'", "/opt/my chrome"),
        ("# CHROMIUM_PATH=/usr/bin/chromium", ""),
        ("OTHER_CHROMIUM_PATH=/x", ""),
        ("CHROMIUM_PATH=", ""),
    ],
)
def test_it_reads_one_setting_of_a_file(tmp_path: Path, line: str, value: str) -> None:
    (tmp_path / ".env").write_text(f"DEBUG=1\n{line}\n")
    assert read_setting(tmp_path / ".env", "CHROMIUM_PATH") == value


def test_every_setting_is_in_the_example_file() -> None:
    read = set(
        re.findall(
            r"\b(?:env\.\w+|_read_number|_read_choice)\(\s*\"([A-Z_]+)\"",
            (ROOT / "jobctrl" / "settings.py").read_text(),
        )
    )
    shown = set(re.findall(r"^# ?([A-Z_]+)=", (ROOT / ".env.example").read_text(), flags=re.MULTILINE))
    assert shown == read - {"JOBCTRL_ENV_FILE"}
