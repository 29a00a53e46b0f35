"""Workers that are killed with an answer in their hands, and several that run into a limit at once. ``make chaos`` kills
thirty times and has eight workers."""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.boardserver import BoardServer
from tests.chaos.answers import Answers
from tests.chaos.asked_models import AskedModels
from tests.chaos.ceilings import Ceilings
from tests.modelserver import ModelServer
from tests.worker.workspace import Workspace

pytestmark = pytest.mark.worker

SEED = 20261130
KILLS = 3
MakeWork = Callable[[int], AskedModels]


@pytest.fixture
def make_work(workspace: Workspace, boards: BoardServer) -> Iterator[MakeWork]:
    """For so many workers."""
    with ExitStack() as stack:

        def make(workers: int) -> AskedModels:
            work = AskedModels(workspace, boards, stack.enter_context(ModelServer()), workers)
            stack.callback(work.stop)
            return work

        yield make


def test_three_kills_with_an_answer_lose_and_double_nothing(make_work: MakeWork) -> None:
    answers = Answers(make_work(1), random.Random(SEED), KILLS)
    answers.start()

    answers.run()

    assert answers.list_faults() == []
    assert len(answers.struck) == KILLS
    assert answers.work.count_attempts("state = 'open'") >= 1


def test_two_workers_cross_a_lane_limit_and_then_the_ceiling(make_work: MakeWork) -> None:
    ceilings = Ceilings(make_work(2))
    ceilings.start()

    ceilings.run()

    assert ceilings.list_faults() == []
