import os
from pathlib import Path

import pytest
from pytest_django import Settings

from materials.chromium import ChromiumMissing, find_chromium, find_cjk_font

NO_FONTS = '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig></fontconfig>'


def make_program(path: Path) -> Path:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_it_takes_the_chromium_the_operator_named(tmp_path: Path, settings: Settings) -> None:
    program = make_program(tmp_path / "my-chromium")
    settings.CHROMIUM_PATH = str(program)

    assert find_chromium() == program


def test_it_finds_a_chromium_on_path_by_either_name(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CHROMIUM_PATH = ""
    monkeypatch.setenv("PATH", str(tmp_path))
    program = make_program(tmp_path / "chromium-browser")

    assert find_chromium() == program


def test_it_names_the_remedy_where_there_is_none(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CHROMIUM_PATH = ""
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ChromiumMissing, match=r"apt-get install chromium.*CHROMIUM_PATH"):
        find_chromium()


def test_it_says_so_when_the_named_file_is_no_program(tmp_path: Path, settings: Settings) -> None:
    settings.CHROMIUM_PATH = str(tmp_path / "gone")

    with pytest.raises(ChromiumMissing, match=r"gone, which is not a program"):
        find_chromium()


@pytest.mark.skipif(not os.path.exists("/usr/bin/fc-list"), reason="fontconfig is not installed")
def test_it_sees_that_no_cjk_font_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "fonts.conf"
    config.write_text(NO_FONTS)
    monkeypatch.setenv("FONTCONFIG_FILE", str(config))
    find_cjk_font.cache_clear()

    assert find_cjk_font() is False

    find_cjk_font.cache_clear()
