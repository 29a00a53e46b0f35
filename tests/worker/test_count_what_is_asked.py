"""A worker that is killed with an answer in its hands, and two that run into a limit at once. ``make chaos`` kills thirty
times, has eight workers, and does both on both databases."""

import random
from collections.abc import Iterator

import pytest

from tests.boardserver import BoardServer
from tests.chaos.answers import Answers
from tests.chaos.asked_models import AskedModels
from tests.chaos.ceilings import JOBS_A_WORKER, Ceilings
from tests.modelserver import ModelServer
from tests.worker.workspace import Workspace

pytestmark = [pytest.mark.worker, pytest.mark.sqlite_alone]

SEED = 20261130
KILLS = 3


@pytest.fixture
def work(workspace: Workspace, boards: BoardServer) -> Iterator[AskedModels]:
    with ModelServer() as models:
        work = AskedModels(workspace, boards, models)
        try:
            yield work
        finally:
            work.stop()


def test_kills_and_limits_leave_every_call_on_record(work: AskedModels) -> None:
    """One workspace for both: what costs time is to start its programs."""
    work.start(KILLS + 2 * JOBS_A_WORKER)
    answers = Answers(work, random.Random(SEED), KILLS)

    answers.run()

    assert answers.list_faults() == []
    assert answers.killed == KILLS
    assert work.count_attempts("state = 'open'") >= 1

    work.add_workers(1)
    ceilings = Ceilings(work)

    ceilings.run()

    assert ceilings.list_faults() == []
