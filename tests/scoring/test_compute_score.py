"""The arithmetic of spec/06 B2, and the checks of a report whoever made it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.contracts import Band, Fit, FitReport, Requirement, RequirementFit, Scope, Tier
from scoring.scoring_rule import AnalysisEmpty, ReportInvalid, check_report, compute_score, get_band

TEXT = "Engineer\n\nPython and Kafka"


def make_item(
    fit: Fit, *, weight: float = 1.0, tier: Tier = Tier.MUST, scope: Scope = Scope.RESUME, key: str = "r1"
) -> RequirementFit:
    requirement = Requirement(key, "Python", "skill", scope, tier, weight, 10, 16)
    shown = fit in (Fit.DIRECT, Fit.STRONG, Fit.TRANSFERABLE)
    return RequirementFit(requirement, fit, ("e1",) if shown else ())


def score(*items: RequirementFit) -> tuple[int, bool]:
    result = compute_score(FitReport(items))
    return result.value, result.blocked


@pytest.mark.parametrize(
    ("fit", "value", "awarded"),
    [
        (Fit.DIRECT, 10, 1.25),
        (Fit.STRONG, 9, 1.0625),
        (Fit.TRANSFERABLE, 6, 0.75),
        (Fit.MISSING, 1, 0.0),
        (Fit.NOT_ASSESSED, 1, 0.0),
        (Fit.BLOCKED, 1, 0.0),
    ],
)
def test_it_awards_each_verdict_its_factor(fit: Fit, value: int, awarded: float) -> None:
    result = compute_score(FitReport((make_item(fit),)))

    assert (result.value, result.awarded, result.possible) == (value, awarded, 1.25)


def test_it_weighs_a_must_a_quarter_more_than_a_wish() -> None:
    result = compute_score(FitReport((make_item(Fit.DIRECT), make_item(Fit.MISSING, tier=Tier.NICE, weight=2.0))))

    assert (result.awarded, result.possible) == (1.25, 3.25)
    assert result.value == 1 + int(9 * 1.25 / 3.25 + 0.5)


def test_it_rounds_both_sums_to_four_decimals() -> None:
    result = compute_score(FitReport((make_item(Fit.STRONG, weight=0.33333), make_item(Fit.MISSING, weight=1 / 3))))

    assert (result.awarded, result.possible) == (0.3542, 0.8333)


@pytest.mark.parametrize(
    ("shown", "missing", "value"),
    [
        (0.5, 8.5, 2),  # 9a/p is exactly one half: it rounds up
        (5.5, 3.5, 7),
        (5.4999, 3.5001, 6),
        (0.4999, 8.5001, 1),
        (8.5, 0.5, 10),
        (0.1, 0.1, 6),  # binary fractions would make this 4.499...
        (1.1, 1.1, 6),
    ],
)
def test_it_decides_boundaries_exactly(shown: float, missing: float, value: int) -> None:
    assert score(make_item(Fit.DIRECT, weight=shown), make_item(Fit.MISSING, weight=missing))[0] == value


def test_it_caps_at_four_with_a_blocker_even_outside_the_resume() -> None:
    blocker = make_item(Fit.BLOCKED, scope=Scope.LOGISTICS)

    assert score(make_item(Fit.DIRECT, weight=9.0), blocker) == (4, True)
    assert score(make_item(Fit.MISSING), blocker) == (1, True)


def test_it_counts_no_logistics() -> None:
    place = make_item(Fit.NOT_ASSESSED, scope=Scope.LOGISTICS, weight=50.0)

    assert score(make_item(Fit.DIRECT), place) == (10, False)


@pytest.mark.parametrize(
    "items", [(), (make_item(Fit.DIRECT, scope=Scope.LOGISTICS),), (make_item(Fit.DIRECT, weight=0.00001),)]
)
def test_it_gives_no_number_where_nothing_counts(items: tuple[RequirementFit, ...]) -> None:
    with pytest.raises(AnalysisEmpty) as raised:
        compute_score(FitReport(items))

    assert raised.value.code == "ANALYSIS_EMPTY"


def test_it_is_not_moved_by_warnings() -> None:
    report = FitReport((make_item(Fit.DIRECT),))

    assert compute_score(replace(report, warnings=("pay_below_wish", "posting_steers"))) == compute_score(report)


@pytest.mark.parametrize(
    ("value", "band"),
    [(10, Band.EXCELLENT), (9, Band.EXCELLENT), (8, Band.STRONG), (7, Band.STRONG), (6, Band.PLAUSIBLE), (5, Band.PLAUSIBLE),
     (4, Band.STRETCH), (3, Band.STRETCH), (2, Band.POOR), (1, Band.POOR)],
)  # fmt: skip
def test_it_names_the_band(value: int, band: Band) -> None:
    assert get_band(value) is band


@given(st.lists(st.tuples(st.sampled_from(Fit), st.sampled_from(Tier), st.floats(0.001, 50)), min_size=1, max_size=40))
def test_it_stays_between_one_and_ten_in_any_order(rows: list[tuple[Fit, Tier, float]]) -> None:
    items = tuple(make_item(fit, tier=tier, weight=weight) for fit, tier, weight in rows)

    result = compute_score(FitReport(items))

    assert 1 <= result.value <= (4 if result.blocked else 10)
    assert 0 <= result.awarded <= result.possible
    assert compute_score(FitReport(items[::-1])) == result


def test_it_accepts_a_report_that_holds() -> None:
    check_report(
        FitReport((make_item(Fit.DIRECT), make_item(Fit.MISSING, key="r2"))), posting_text=TEXT, evidence_ids=["e1"]
    )


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"start": 11}, "not what the posting says"),
        ({"end": 400}, "outside the posting"),
        ({"start": 16}, "outside the posting"),
        ({"start": -3}, "outside the posting"),
        ({"text": "Kafka"}, "not what the posting says"),
        ({"weight": 0.0}, "weight"),
        ({"weight": float("nan")}, "weight"),
        ({"id": ""}, "id"),
    ],
)
def test_it_refuses_a_requirement_the_posting_does_not_state(change: dict[str, Any], complaint: str) -> None:
    item = make_item(Fit.DIRECT)
    item = replace(item, requirement=replace(item.requirement, **change))

    with pytest.raises(ReportInvalid, match=complaint):
        check_report(FitReport((item,)), posting_text=TEXT, evidence_ids=["e1"])


def test_it_refuses_evidence_the_profile_does_not_have() -> None:
    with pytest.raises(ReportInvalid, match=r"'r1'.*'e1'"):
        check_report(FitReport((make_item(Fit.STRONG),)), posting_text=TEXT, evidence_ids=["e2"])


def test_it_refuses_a_match_without_evidence() -> None:
    with pytest.raises(ReportInvalid, match="without evidence"):
        check_report(
            FitReport((replace(make_item(Fit.STRONG), evidence_ids=()),)), posting_text=TEXT, evidence_ids=["e1"]
        )


def test_it_refuses_one_id_twice() -> None:
    with pytest.raises(ReportInvalid, match="twice"):
        check_report(FitReport((make_item(Fit.MISSING), make_item(Fit.MISSING))), posting_text=TEXT, evidence_ids=[])
