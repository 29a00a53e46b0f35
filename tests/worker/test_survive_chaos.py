"""Ten random kills with a fixed seed, runs ended from outside among them; ``make chaos`` does two hundred."""

import random
from collections.abc import Iterator

import pytest

from tests.boardserver import BoardServer
from tests.chaos.episode import Episode, Plan
from tests.worker.workspace import Workspace

pytestmark = [pytest.mark.worker, pytest.mark.browser]

SEED = 20261129
JOBS = 10


@pytest.fixture
def episode(workspace: Workspace, boards: BoardServer) -> Iterator[Episode]:
    chaos = Episode(workspace, boards, random.Random(SEED), workers=2, jobs=JOBS)
    try:
        yield chaos
    finally:
        chaos.stop()


def test_ten_random_kills_lose_double_and_strand_nothing(episode: Episode) -> None:
    episode.start()

    episode.run_round(1, Plan(kills=10, looks=2, stops=("canceled", "terminated")))

    assert episode.list_faults() == []
    assert sum(episode.kills.values()) == 10
    assert episode.looked == 2
    assert episode.workspace.count("jobs") == JOBS
