"""The workspace folder: its path and its secret key."""

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jobctrl.home import Home, HomeUnusable

NAME_DATABASE = "from django.conf import settings; print(settings.DATABASES['default']['NAME'])"


def test_it_makes_one_key_however_many_ask_at_once(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: home.read_secret_key(), range(32)))
    assert len(keys) == 1
    assert len(keys.pop()) >= 50
    assert stat.S_IMODE(home.secret_key_file.stat().st_mode) == 0o600
    assert [path.name for path in home.root.iterdir() if path.is_file()] == ["secret_key"]


def test_it_refuses_a_key_that_is_none(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for content in (b"", b" \n", "schlüssel".encode()):
        home.secret_key_file.write_bytes(content)
        with pytest.raises(HomeUnusable, match=r"secret_key holds no key\. Move it away"):
            home.read_secret_key()
    home.secret_key_file.unlink()
    home.secret_key_file.mkdir()
    with pytest.raises(
        HomeUnusable, match=r"secret_key cannot be read \(Is a directory\). Make it a file of this user's"
    ):
        home.read_secret_key()


def test_it_says_what_helps_where_it_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HomeUnusable, match="It is not a folder: set JOBCTRL_HOME to another path"):
        Home(tmp_path / "file").create()
    with pytest.raises(HomeUnusable, match="or set JOBCTRL_HOME to another folder"):
        Home(tmp_path / "file" / "home").create()
    (tmp_path / "round").symlink_to(tmp_path / "about")
    (tmp_path / "about").symlink_to(tmp_path / "round")
    with pytest.raises(HomeUnusable, match=r"round' leads nowhere .* Set JOBCTRL_HOME to another folder"):
        Home.at(str(tmp_path / "round"))


@pytest.mark.parametrize("name", ["why?", "c#", "50%", "50%20", "two\nlines"])
def test_it_refuses_a_path_that_would_put_temporals_database_elsewhere(tmp_path: Path, name: str) -> None:
    with pytest.raises(HomeUnusable, match="Set JOBCTRL_HOME to a folder without them"):
        Home(tmp_path / name)


@pytest.mark.parametrize("name", ["c++ jobs", "bücher 求人", "a;b&c=d", "it's"])
def test_its_database_lies_in_it_whatever_its_name(tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    environment = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    environment |= {"JOBCTRL_HOME": str(home), "DJANGO_SETTINGS_MODULE": "jobctrl.settings", "PYTHONUTF8": "1"}
    asked = subprocess.run(
        [sys.executable, "-c", NAME_DATABASE], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert asked.stdout.strip() == str(home / "jobctrl.db")
