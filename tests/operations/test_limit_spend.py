"""The day's limits: what is spent is seen at once, and whoever asks at a limit is turned away before anything leaves."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from django.utils import timezone as clock

from operations.activities import check_spend_budget
from operations.checkup import Verdict
from operations.contracts import ErrorCode, SpendPreflight, StageName, StageState
from operations.health import check_spend
from operations.llm.authority import check_budget, check_preflight, next_reset, read_used, utc_day
from operations.llm.calls import Caller
from operations.llm.errors import BudgetExceeded
from operations.llm.ledger import Target, close_unknown, compare_day, count_attempt, open_attempt
from operations.llm.pricing import Price
from operations.llm.usage import Usage
from operations.models import JobEventRow, LlmAttempt, LlmSpend
from operations.queries.spend import list_unknown_attempts, read_model_shares
from operations.settings_store import change_settings
from operations.spend import read_spend_today
from operations.views.spend_words import describe_unknown
from tests.operations.asking import spend
from tests.operations.cast import Cast, put_row

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 7, 3, 12, tzinfo=UTC)
Freeze = Callable[[datetime], None]


@pytest.fixture
def freeze(monkeypatch: pytest.MonkeyPatch) -> Freeze:
    def set_clock(now: datetime) -> None:
        monkeypatch.setattr(clock, "now", lambda: now)

    set_clock(NOON)
    return set_clock


def limit(**settings: object) -> None:
    change_settings(settings, actor="tester")


def test_it_adds_up_a_day(freeze: Freeze) -> None:
    spend(given=100, made=20, usd="0.50")
    spend(given=25, made=5, usd="0.125")
    row = LlmSpend.objects.get()
    assert (row.day, row.lane) == (date(2026, 7, 3), "score")
    assert (row.input_tokens, row.output_tokens, row.cost_usd) == (125, 25, Decimal("0.625"))
    assert read_spend_today(NOON).spent_usd == Decimal("0.625")


def test_it_begins_each_day_at_nothing(freeze: Freeze) -> None:
    spend(given=100, made=20, usd="0.50")
    used = read_used(date(2026, 7, 4))
    assert (used.cost_usd, used.tokens) == (0, {})


def test_it_sums_the_lanes_for_the_ceiling(freeze: Freeze) -> None:
    spend("score", usd="0.6", given=1)
    spend("tailor", usd="0.4", given=1)
    limit(daily_budget_usd=1.0)
    with pytest.raises(BudgetExceeded):
        check_budget("cover", now=NOON)


def test_it_knows_no_limit_at_a_ceiling_of_nothing(freeze: Freeze) -> None:
    spend(given=1, usd="99")
    limit(daily_budget_usd=0)
    check_budget("score", now=NOON)


def test_it_refuses_at_exactly_the_ceiling_and_says_not_to_ask_again(freeze: Freeze) -> None:
    spend(given=1, usd="1.00")
    limit(daily_budget_usd=1.0)
    with pytest.raises(BudgetExceeded) as refused:
        spend()
    assert (refused.value.code, refused.value.retryable) == (ErrorCode.BUDGET_EXCEEDED, False)
    assert refused.value.until == datetime(2026, 7, 4, tzinfo=UTC)
    assert LlmAttempt.objects.count() == 1


def test_it_lets_one_more_call_overshoot_and_denies_the_next(freeze: Freeze) -> None:
    limit(daily_budget_usd=1.0)
    spend(given=1, usd="0.999999")
    spend(given=1, usd="5")
    with pytest.raises(BudgetExceeded):
        spend()


def test_it_stops_one_lane_at_its_tokens_and_no_other(freeze: Freeze) -> None:
    limit(lane_token_limits={"score": 120, "tailor": 0})
    spend("score", given=100, made=20)
    spend("tailor", given=10**9)
    with pytest.raises(BudgetExceeded, match="score lane"):
        spend("score")
    spend("tailor")
    spend("cover")


def test_it_counts_cached_and_reasoning_tokens_once(freeze: Freeze) -> None:
    limit(lane_token_limits={"score": 121})
    key = open_attempt(Target("score", "openai", "m"), Caller())
    usage = Usage(100, 20, cached_input_tokens=90, reasoning_output_tokens=15)
    count_attempt(key, usage=usage, price=Price(Decimal(0), "free"), http_status=200)
    row = LlmSpend.objects.get()
    assert (row.cached_input_tokens, row.reasoning_output_tokens) == (90, 15)
    check_budget("score", now=NOON)


def test_it_never_denies_the_built_in_engine(freeze: Freeze) -> None:
    spend(given=1, usd="99")
    limit(daily_budget_usd=1.0)
    check_preflight(["analysis", "score"], now=NOON, begins_with=["analysis"])
    check_spend_budget(SpendPreflight(("score", "tailor", "cover")))


def test_its_preflight_asks_for_the_lanes_of_one_stage_and_for_the_ceiling_of_several(freeze: Freeze) -> None:
    limit(provider={"score": "openai"}, lane_token_limits={"score": 100})
    spend("score", given=100)
    with pytest.raises(BudgetExceeded, match="score lane"):
        check_spend_budget(SpendPreflight(("score",)))
    check_spend_budget(SpendPreflight(("score", "tailor")))
    check_spend_budget(SpendPreflight(("tailor",)))
    limit(daily_budget_usd=0.5)
    spend("cover", given=1, usd="0.5")
    with pytest.raises(BudgetExceeded, match="00:00 UTC"):
        check_spend_budget(SpendPreflight(("score", "tailor")))


def test_a_preparation_asks_for_the_lanes_of_its_first_step_that_is_not_done(cast: Cast, freeze: Freeze) -> None:
    limit(provider={"score": "openai"}, lane_token_limits={"score": 100})
    preparation = SpendPreflight(("score", "tailor"), str(cast.backend))
    check_spend_budget(preparation)
    spend("score", given=100)
    with pytest.raises(BudgetExceeded, match="score lane"):
        check_spend_budget(preparation)
    put_row(cast.backend, StageName.SCORE, StageState.SUCCEEDED)
    check_spend_budget(preparation)


def test_a_preparation_whose_models_are_done_is_not_denied_for_what_others_spent(cast: Cast, freeze: Freeze) -> None:
    limit(provider={"score": "openai"}, daily_budget_usd=1.0)
    spend("score", given=1, usd="1")
    preparation = SpendPreflight(("score", "tailor", "cover"), str(cast.backend))
    put_row(cast.backend, StageName.TAILOR, StageState.FAILED)
    with pytest.raises(BudgetExceeded):
        check_spend_budget(preparation)
    put_row(cast.backend, StageName.SCORE, StageState.SUCCEEDED)
    check_spend_budget(preparation)
    with pytest.raises(BudgetExceeded):
        check_spend_budget(replace(preparation, job_id=str(cast.data)))


def test_a_selection_that_was_done_before_is_not_denied(cast: Cast, freeze: Freeze) -> None:
    limit(provider={"score": "openai"}, daily_budget_usd=1.0)
    spend("score", given=1, usd="1")
    put_row(cast.backend, StageName.SCORE, StageState.SUCCEEDED)
    chosen = SpendPreflight(("score",), job_ids=(str(cast.backend),))
    check_spend_budget(chosen)
    with pytest.raises(BudgetExceeded):
        check_spend_budget(replace(chosen, job_ids=(*chosen.job_ids, str(cast.data))))


@pytest.mark.parametrize("hours", [-5, 5.5, 13])
def test_its_day_is_that_of_utc_wherever_the_operator_sits(hours: float) -> None:
    now = datetime(2026, 8, 18, 1, 30, tzinfo=UTC).astimezone(timezone(timedelta(hours=hours)))
    assert utc_day(now) == date(2026, 8, 18)
    assert next_reset(now) == datetime(2026, 8, 19, tzinfo=UTC)


@pytest.mark.parametrize("hours", [-5, 5.5, 13])
def test_it_admits_again_at_midnight_utc(hours: float, freeze: Freeze) -> None:
    zone = timezone(timedelta(hours=hours))
    midnight = datetime(2026, 8, 19, tzinfo=UTC)
    limit(daily_budget_usd=1.0)
    freeze((midnight - timedelta(seconds=2)).astimezone(zone))
    spend(given=1, usd="1")
    freeze((midnight - timedelta(microseconds=1)).astimezone(zone))
    with pytest.raises(BudgetExceeded) as refused:
        spend()
    assert refused.value.until == midnight
    freeze(midnight.astimezone(zone))
    spend(given=2, usd="0.25")
    days = LlmSpend.objects.order_by("day").values_list("day", "input_tokens")
    assert list(days) == [(date(2026, 8, 18), 1), (date(2026, 8, 19), 2)]


def test_it_counts_an_answer_on_the_day_that_it_was_read(freeze: Freeze) -> None:
    freeze(datetime(2026, 8, 18, 23, 59, 59, tzinfo=UTC))
    key = open_attempt(Target("score", "openai", "m"), Caller())
    freeze(datetime(2026, 8, 19, 0, 0, 1, tzinfo=UTC))
    count_attempt(key, usage=Usage(3, 4), price=Price(Decimal(1), "list"), http_status=200)
    assert LlmSpend.objects.get().day == LlmAttempt.objects.get().day == date(2026, 8, 19)


def test_it_counts_one_observation_once(freeze: Freeze) -> None:
    key = spend(given=100, made=20, usd="0.5")
    assert not count_attempt(key, usage=Usage(100, 20), price=Price(Decimal("0.5"), "list"), http_status=200)
    assert not close_unknown(key, http_status=None, error_code="TimeoutError")
    assert (LlmSpend.objects.get().input_tokens, LlmAttempt.objects.get().state) == (100, "counted")
    assert JobEventRow.objects.filter(event_type="LlmUsageObserved").count() == 1


def test_it_adds_nothing_for_an_attempt_whose_use_nobody_knows(freeze: Freeze) -> None:
    key = open_attempt(Target("score", "openai", "m"), Caller())
    assert close_unknown(key, http_status=200, error_code="")
    assert not LlmSpend.objects.exists()
    assert compare_day(NOON) == []


def test_it_counts_a_use_that_becomes_known_after_the_attempt_was_given_up(freeze: Freeze) -> None:
    key = open_attempt(Target("score", "openai", "m"), Caller())
    assert close_unknown(key, http_status=None, error_code="TimeoutError")
    told = [count_attempt(key, usage=Usage(3, 4), price=Price(Decimal(1), "list"), http_status=200) for _ in range(2)]
    assert told == [True, False]
    assert (LlmSpend.objects.get().input_tokens, LlmAttempt.objects.get().state) == (3, "counted")


def test_it_counts_what_a_broken_stream_told_and_still_lists_it_as_unknown(freeze: Freeze) -> None:
    spend(given=100)
    key = open_attempt(Target("score", "openai", "m"), Caller())
    price = Price(Decimal("0.25"), "list")
    assert count_attempt(key, usage=Usage(5, 1), price=price, http_status=200, is_whole=False)
    assert not count_attempt(key, usage=Usage(5, 9), price=price, http_status=200)
    (listed,) = list_unknown_attempts(since=NOON, now=NOON, limit=5)
    assert (listed.observation_key, describe_unknown(listed)) == (
        key,
        "its answer broke off; what it had told is counted",
    )
    assert read_used(NOON.date()).tokens == {"score": 106}
    uses = {use.model: (use.calls, use.unknown, use.tokens) for use in read_model_shares(NOON).models}
    assert uses["m"] == (1, 1, 6)
    assert all(check.is_even for check in compare_day(NOON))


def test_doctor_compares_the_ledger_with_its_attempts(freeze: Freeze) -> None:
    assert check_spend().verdict is Verdict.OK
    spend("score", given=100, made=20, usd="0.5")
    spend("tailor", given=1, usd="0.000001")
    assert check_spend().verdict is Verdict.OK
    LlmSpend.objects.filter(lane="tailor").update(output_tokens=7)
    found = check_spend()
    assert found.verdict is Verdict.WARNING
    assert "tailor" in found.detail and "score" not in found.detail
