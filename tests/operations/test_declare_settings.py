"""The settings store: refusals that say what to do, all or nothing, and wrong stored values made harmless."""

from collections.abc import Callable
from typing import Any

import pytest

from operations.contracts import LANES
from operations.errors import InvalidSetting
from operations.models import JobEventRow, StoredSetting
from operations.settings_store import (
    Setting,
    change_settings,
    check_integer,
    declare,
    get_lane_provider,
    get_setting,
    list_settings,
    list_unusable_settings,
)


def store(key: str, value: Any) -> None:
    """As an earlier release, or a hand at the database, left it."""
    StoredSetting.objects.create(key=key, value=value)


@pytest.mark.parametrize(("stored", "expected"), [(7, 7), (99, 64), (0, 1), (-3, 1), ("seven", 4), (True, 4), (7.5, 4)])
def test_it_clamps_the_slots_or_takes_the_default(stored: Any, expected: int, db: None) -> None:
    store("worker_activity_slots", stored)
    assert get_setting("worker_activity_slots") == expected


def test_it_reports_every_stored_value_that_it_cannot_use(db: None) -> None:
    store("worker_activity_slots", 99)
    store("min_fit_score", 8)
    store("a_key_of_a_later_release", 1)
    assert list_unusable_settings() == ["worker_activity_slots: 99 is out of range; allowed: 1 to 64"]


def test_it_has_a_default_within_its_own_range_for_every_setting(db: None) -> None:
    for setting in list_settings():
        assert setting.check(setting.default) == setting.default, setting.key
        assert get_setting(setting.key) == setting.default, setting.key
        assert setting.allowed and setting.label and setting.effect in ("live", "next run", "worker restart")


def test_it_stores_a_change_with_an_event_that_holds_no_value(
    db: None, assert_rebuild_matches: Callable[[], None]
) -> None:
    change_settings({"min_fit_score": 6, "results_per_board": 120}, actor="operator")
    assert (get_setting("min_fit_score"), get_setting("results_per_board")) == (6, 120)
    event = JobEventRow.objects.get(event_type="SettingsChanged")
    assert event.payload == {"keys": ["min_fit_score", "results_per_board"], "actor": "operator"}
    change_settings({"min_fit_score": 7}, actor="operator")
    assert get_setting("min_fit_score") == 7
    assert_rebuild_matches()


@pytest.mark.parametrize("bound", [1, 10])
def test_it_accepts_both_ends_of_a_range(bound: int, db: None) -> None:
    change_settings({"min_fit_score": bound}, actor="operator")
    assert get_setting("min_fit_score") == bound


@pytest.mark.parametrize(
    ("key", "value", "reason", "allowed"),
    [
        ("min_fit_score", 11, "11 is out of range", "1 to 10"),
        ("min_fit_score", 0, "0 is out of range", "1 to 10"),
        ("min_fit_score", "7", "'7' is not a whole number", "1 to 10"),
        ("min_fit_score", 7.0, "7.0 is not a whole number", "1 to 10"),
        ("min_fit_score", True, "True is not a whole number", "1 to 10"),
        ("min_fit_score", None, "None is not a whole number", "1 to 10"),
        ("provider", {"typing": "builtin"}, "no lane 'typing'", "lanes analysis, score"),
        ("provider", {"score": "oracle"}, "'oracle' is not a provider for score", "providers builtin"),
        ("provider", "builtin", "is not a mapping", "lanes analysis, score"),
        ("provider", {"score": ["builtin"]}, "is not a provider", "lanes analysis, score"),
    ],
)
def test_it_refuses_a_wrong_value_with_its_field_reason_and_range(
    key: str, value: Any, reason: str, allowed: str, db: None
) -> None:
    with pytest.raises(InvalidSetting) as refused:
        change_settings({key: value}, actor="operator")
    assert list(refused.value.fields) == [key]
    assert reason in refused.value.fields[key] and allowed in refused.value.fields[key]
    assert str(refused.value).startswith(f"{key}: ")
    assert not StoredSetting.objects.exists()


def test_it_names_every_wrong_field_and_saves_none_of_them(db: None) -> None:
    with pytest.raises(InvalidSetting) as refused:
        change_settings(
            {"min_fit_score": 6, "colour": "red", "worker_activity_slots": "x" * 5000, "provider": {"a": "b"}},
            actor="operator",
        )
    assert sorted(refused.value.fields) == ["colour", "provider", "worker_activity_slots"]
    assert refused.value.fields["colour"] == "there is no such setting"
    assert refused.value.fields["worker_activity_slots"].endswith("allowed: 1 to 64")
    assert all(len(reason) < 400 for reason in refused.value.fields.values())
    assert not StoredSetting.objects.exists()
    assert not JobEventRow.objects.exists()
    assert get_setting("min_fit_score") == 7


def test_it_leaves_no_trace_of_a_change_of_nothing(db: None) -> None:
    change_settings({}, actor="operator")
    assert not JobEventRow.objects.exists()


def test_it_uses_the_built_in_engine_for_a_lane_without_a_choice(db: None) -> None:
    assert {get_lane_provider(lane) for lane in LANES} == {"builtin"}
    change_settings({"provider": {"score": "builtin"}}, actor="operator")
    assert get_lane_provider("score") == get_lane_provider("tailor") == "builtin"


def test_it_uses_the_built_in_engine_where_the_stored_choice_is_unknown(db: None) -> None:
    store("provider", {"score": "an engine of a later release"})
    assert get_lane_provider("score") == "builtin"


def test_it_refuses_a_key_that_is_declared_already() -> None:
    with pytest.raises(ValueError, match="min_fit_score is declared twice"):
        declare(Setting("min_fit_score", 1, check_integer(1, 2), "1 to 2"))


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("lane_token_limits", {"scoring": 5}, "there is no lane 'scoring'"),
        ("lane_token_limits", {"score": -1}, "-1 is not a number of tokens for score"),
        ("lane_token_limits", {"score": 1.5}, "1.5 is not a number of tokens for score"),
        ("lane_token_limits", {"score": True}, "True is not a number of tokens for score"),
        ("lane_token_limits", {"score": 10**30}, "is not a number of tokens for score"),
        ("lane_token_limits", [5], "[5] is not a mapping of lanes"),
        ("model", {"score": 5}, "5 is not a name of at most 120 characters for score"),
        ("model", {"score": "x" * 121}, "is not a name of at most 120 characters for score"),
        ("model", {"score": "gpt\n5"}, "is not a name of at most 120 characters for score"),
        ("model", {"nothing": "gpt-5"}, "there is no lane 'nothing'"),
        ("model", "gpt-5", "'gpt-5' is not a mapping of lanes"),
        ("provider", {"score": "opeanai"}, "'opeanai' is not a provider for score"),
        ("provider", {"score": None}, "None is not a provider for score"),
        ("structured_output", "xml", "'xml' is not one of them"),
        ("structured_output", ["tool"], "['tool'] is not one of them"),
        ("model_streaming", 1, "1 is neither true nor false"),
        ("self_hosted_free", "yes", "'yes' is neither true nor false"),
    ],
)
def test_it_refuses_a_bad_choice_of_model_with_its_reason(key: str, value: Any, reason: str, db: None) -> None:
    with pytest.raises(InvalidSetting) as refused:
        change_settings({key: value, "daily_budget_usd": 3.0}, actor="operator")
    assert reason in refused.value.fields[key] and "; allowed: " in refused.value.fields[key]
    store(key, value)
    assert get_setting(key) == next(setting.default for setting in list_settings() if setting.key == key)
    assert get_setting("daily_budget_usd") == 25.0


def test_it_leaves_out_a_lane_whose_model_is_empty(db: None) -> None:
    change_settings({"model": {"score": "  ", "tailor": " gpt-5 "}}, actor="operator")
    assert get_setting("model") == {"tailor": "gpt-5"}


@pytest.mark.parametrize(
    ("key", "stored", "read"),
    [
        ("lane_token_limits", {"score": 1000, "tailor": -5}, {"score": 1000}),
        ("lane_token_limits", {"nowhere": 5, "score": 1000}, {"score": 1000}),
        ("provider", {"score": "openai", "analysis": "a stranger"}, {"score": "openai"}),
        ("model", {"score": "small", "analysis": 7}, {"score": "small"}),
        ("lane_token_limits", [5], {}),
    ],
)
def test_a_stored_value_that_is_wrong_for_one_lane_still_counts_for_the_others(
    db: None, key: str, stored: object, read: object
) -> None:
    """Else one bad number would lift every lane's limit."""
    StoredSetting.objects.create(key=key, value=stored)

    assert get_setting(key) == read
    assert [problem.split(":")[0] for problem in list_unusable_settings()] == [key]


def test_it_saves_nothing_of_a_change_that_breaks_off(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_off(event: Any) -> None:
        raise RuntimeError("the power went")

    monkeypatch.setattr("operations.settings_store.append", break_off)
    with pytest.raises(RuntimeError):
        change_settings({"daily_budget_usd": 3.0, "min_fit_score": 4}, actor="operator")

    assert not StoredSetting.objects.exists()
