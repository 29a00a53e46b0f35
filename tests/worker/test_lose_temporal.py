"""Temporal goes away, comes back, has forgotten everything and remembers again; ``make chaos`` takes its time over it."""

from collections.abc import Iterator

import pytest

from tests.boardserver import BoardServer
from tests.chaos.outage import Outage
from tests.worker.workspace import Workspace

pytestmark = [pytest.mark.worker, pytest.mark.browser, pytest.mark.sqlite_alone]

AWAY_SECONDS = 8.0


@pytest.fixture
def outage(workspace: Workspace, boards: BoardServer) -> Iterator[Outage]:
    made = Outage(workspace, boards, AWAY_SECONDS)
    try:
        made.start()
        yield made
    finally:
        made.stop()


def test_pages_api_and_health_tell_the_truth_while_temporal_is_away_wiped_and_restored(outage: Outage) -> None:
    outage.run()
