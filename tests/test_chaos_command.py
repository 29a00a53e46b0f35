"""``make chaos`` does not pass over what it could not try."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.chaos import __main__ as chaos
from tests.postgres import PostgresUnavailable

NOTHING = ["--kills", "0", "--outage", "0", "--answers", "0", "--ceilings", "0"]


@contextmanager
def no_cluster() -> Iterator[str]:
    raise PostgresUnavailable("PostgreSQL is not installed")
    yield


def test_a_missing_postgresql_is_said_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(chaos, "kept_cluster", no_cluster)

    assert chaos.main(NOTHING) == 1
    assert "postgresql is NOT tried: PostgreSQL is not installed" in capsys.readouterr().out
    assert chaos.main([*NOTHING, "--databases", "postgresql"]) == 1
    assert chaos.main([*NOTHING, "--databases", "sqlite"]) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        ("--jobs", "0"),
        ("--workers", "0"),
        ("--kills", "-1"),
        ("--outage", "-1"),
        ("--answers", "-1"),
        ("--ceilings", "-1"),
    ],
)
def test_it_refuses_counts_that_mean_nothing(wrong: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        chaos.main(list(wrong))
    assert "at least" in capsys.readouterr().err
