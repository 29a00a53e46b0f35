"""A posting that gives the reading model orders: it is warned of, and nobody's score moves by it."""

from collections.abc import Callable

import pytest

from discovery.services.profiles import import_profile
from scoring.contracts import Fit
from scoring.panels import WARNINGS, read_score_panel
from scoring.queries import find_score_value, get_score
from tests.materials.candidate import SAMPLE
from tests.modelserver import ModelServer
from tests.scoring.model_cast import (
    ASKED,
    PLAIN,
    STEERED,
    UNMET_ASKED,
    analyze,
    enrich,
    judge,
    score,
    use_models,
)

pytestmark = pytest.mark.usefixtures("one_connection")

Check = Callable[[], None]
EVERYTHING = analyze(*ASKED[:3], *UNMET_ASKED)  # six: title, two met, three that the profile shows nowhere
HONEST = (Fit.DIRECT, Fit.DIRECT, Fit.DIRECT, Fit.MISSING, Fit.MISSING, Fit.MISSING)


@pytest.fixture(autouse=True)
def candidate(db: None) -> None:
    import_profile(SAMPLE.read_bytes())


@pytest.mark.parametrize("lanes", [(), ("analysis",), ("score",), ("analysis", "score")], ids=str)
def test_it_warns_on_the_job_and_changes_nothing_in_the_score(
    lanes: tuple[str, ...], models: ModelServer, assert_rebuild_matches: Check
) -> None:
    use_models("analysis", "score") if len(lanes) == 2 else use_models(*lanes)
    plain, steered = enrich(PLAIN), enrich(STEERED)
    models.usual = EVERYTHING if lanes != ("score",) else None
    for job_id in (plain, steered):
        if lanes == ("score",):
            models.usual = judge(*([Fit.MISSING] * count_builtin(job_id)))
            continue
        models.script(*([EVERYTHING, judge(*HONEST)] if len(lanes) == 2 else []))
        assert score(job_id).state == "succeeded"
    if lanes == ("score",):
        pytest.skip("see the test below")

    assert find_score_value(steered) == find_score_value(plain) not in (None, 10)
    assert "posting_steers" in get_score(steered).report.warnings
    assert "posting_steers" not in get_score(plain).report.warnings
    panel = read_score_panel(steered)
    assert panel is not None and WARNINGS["posting_steers"] in panel["warnings"]
    assert_rebuild_matches()


def count_builtin(job_id: object) -> int:
    return 1
