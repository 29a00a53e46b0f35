"""Which profile a stage is started with by hand."""

import pytest

from discovery.services.profiles import import_profile
from operations import starters
from operations.contracts import StageName
from operations.errors import MissingInput
from operations.services.starts import Started
from operations.starters import StageNotStartable, StartOrder, start_stage

pytestmark = pytest.mark.django_db
RESUME = '{"basics": {"name": "Mara Lindqvist"}, "work": [{"name": "Harbour Analytics", "position": "Engineer"}]}'


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    given: list[int] = []

    def start_pipeline(stage: str, *, profile_version: int, **_: object) -> Started:
        given.append(profile_version)
        return Started("run-1", "r-1", existing=False)

    monkeypatch.setattr(starters, "start_pipeline", start_pipeline)
    return given


def test_it_needs_a_profile_for_every_stage_but_enrich(versions: list[int]) -> None:
    start_stage(StartOrder(StageName.ENRICH))
    for stage in (StageName.SCORE, StageName.TAILOR, StageName.COVER, StageName.PDF):
        with pytest.raises(MissingInput, match="import_profile"):
            start_stage(StartOrder(stage))
    assert versions == [0]


def test_it_takes_the_newest_profile(versions: list[int]) -> None:
    import_profile(RESUME)
    import_profile(RESUME.replace("Engineer", "Staff Engineer"))
    start_stage(StartOrder(StageName.ENRICH))
    start_stage(StartOrder(StageName.SCORE))
    assert versions == [2, 2]


def test_it_starts_no_application_by_hand(versions: list[int]) -> None:
    with pytest.raises(StageNotStartable):
        start_stage(StartOrder(StageName.APPLY))
