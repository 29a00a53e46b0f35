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
