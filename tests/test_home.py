"""The workspace folder's secret key."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from jobctrl.home import Home


def test_it_makes_one_key_however_many_ask_at_once(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: home.read_secret_key(), range(32)))
    assert len(keys) == 1
    assert len(keys.pop()) >= 50
    assert stat.S_IMODE(home.secret_key_file.stat().st_mode) == 0o600
    assert [path.name for path in home.root.iterdir() if path.is_file()] == ["secret_key"]
