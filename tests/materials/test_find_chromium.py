import os
from pathlib import Path

import pytest
from pytest_django import Settings

from materials import chromium, health
from materials.chromium import ChromiumMissing, find_chromium, find_cjk_font
from operations.checkup import Verdict

NO_FONTS = '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig></fontconfig>'


def make_program(path: Path) -> Path:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_it_takes_the_chromium_the_operator_named(tmp_path: Path, settings: Settings) -> None:
    program = make_program(tmp_path / "my-chromium")
    settings.CHROMIUM_PATH = str(program)

    assert find_chromium() == program


@pytest.fixture
def nothing(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a Chromium; its HEADLESS and the only folder of its PATH are in here."""
    settings.CHROMIUM_PATH = ""
    monkeypatch.setattr(chromium, "HEADLESS", tmp_path / "headless")
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_it_finds_a_chromium_on_path_by_either_name(nothing: Path) -> None:
    program = make_program(nothing / "chromium-browser")

    assert find_chromium() == program


def test_it_prefers_the_one_that_has_no_window(nothing: Path) -> None:
    make_program(nothing / "chromium")
    program = make_program(nothing / "headless")

    assert find_chromium() == program


def test_it_names_the_remedy_where_there_is_none(nothing: Path) -> None:
    with pytest.raises(ChromiumMissing, match=r"apt-get install chromium.*CHROMIUM_PATH"):
        find_chromium()


def test_it_says_so_when_the_named_file_is_no_program(tmp_path: Path, settings: Settings) -> None:
    settings.CHROMIUM_PATH = str(tmp_path / "gone")

    with pytest.raises(ChromiumMissing, match=r"gone, which is not a program"):
        find_chromium()


def test_doctor_fails_without_one(nothing: Path) -> None:
    finding = health.check_chromium()
    assert (finding.verdict, finding.detail) == (Verdict.FAILED, "no Chromium was found, so no PDF can be made")
    assert "apt-get install chromium" in finding.remedy
    program = make_program(nothing / "chromium")
    finding = health.check_chromium()
    assert (finding.verdict, finding.detail) == (Verdict.OK, str(program))


@pytest.mark.skipif(not os.path.exists("/usr/bin/fc-list"), reason="fontconfig is not installed")
def test_it_sees_that_no_cjk_font_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "fonts.conf"
    config.write_text(NO_FONTS)
    monkeypatch.setenv("FONTCONFIG_FILE", str(config))
    find_cjk_font.cache_clear()

    assert find_cjk_font() is False
    finding = health.check_fonts()
    assert (finding.verdict, finding.detail) == (Verdict.WARNING, "no font for Chinese, Japanese and Korean text")
    assert "apt-get install fonts-noto-cjk" in finding.remedy

    find_cjk_font.cache_clear()


def test_doctor_says_that_every_script_can_be_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "find_cjk_font", lambda: True)
    assert health.check_fonts().verdict is Verdict.OK
