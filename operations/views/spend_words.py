"""What the spend page says in sentences."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from operations.models import LlmAttempt
from operations.services.providers import Trial
from operations.spend import LaneUse, SpendLevel, SpendToday
from operations.spend_pace import Forecast, NoForecast
from operations.wording import Tone, Wording, describe_money
from operations.wording.lanes import join_lanes, name_lane, name_provider

_NO_FORECAST: Final = {
    NoForecast.UNLIMITED: ("No limit", "no daily limit is set"),
    NoForecast.REACHED: ("Reached", "nothing more is asked of a model today"),
    NoForecast.NOTHING_SPENT: ("Cannot be said", "nothing was spent today"),
    NoForecast.UNKNOWN: ("Cannot be said", "no call said what it used"),
    NoForecast.IDLE: ("Cannot be said", "no model was asked in the last 30 minutes"),
    NoForecast.TOO_EARLY: ("Cannot be said yet", "it takes 5 calls over 10 minutes"),
    NoForecast.NOT_TODAY: ("Not today", ""),
}


@dataclass(frozen=True, slots=True)
class ForecastWords:
    """``at`` stands in the place of the word, where a time is known."""

    word: str
    detail: str
    at: datetime | None = None


def describe_forecast(forecast: Forecast) -> ForecastWords:
    if forecast.reason is None:
        return ForecastWords("", "at the pace since today's first call", forecast.meets_at)
    word, detail = _NO_FORECAST[forecast.reason]
    if forecast.by_reset_usd is not None:
        detail = f"at today's pace it comes to {describe_money(forecast.by_reset_usd)}"
    return ForecastWords(word, detail)


def describe_level(today: SpendToday) -> Wording | None:
    """What has to be known of the day's limits; ``None`` where there is nothing to say."""
    if today.level is SpendLevel.REACHED:
        return Wording(
            "Today's limit is reached", Tone.WAITING, "Work that needs a model waits until the day ends. Nothing fails."
        )
    if today.full_lanes:
        return Wording(
            f"At its limit for today: {join_lanes(today.full_lanes)}", Tone.WAITING, "The other lanes go on."
        )
    if today.level is SpendLevel.NEAR:
        return Wording(f"{today.percent} % of today's limit is used", Tone.WAITING, "At 100 % work waits for tomorrow.")
    if today.near_lanes:
        return Wording(
            f"Near its limit for today: {join_lanes(today.near_lanes)}", Tone.WAITING, "At 100 % that work waits."
        )
    return None


def describe_tokens(use: LaneUse) -> str:
    """``1,200 of 1,500``; at least that where calls did not say what they used."""
    limit = f" of {use.limit:,}" if use.limit else ""
    if use.is_unknown:
        return f"unknown{limit}"
    return f"{'at least ' if use.unknown else ''}{use.tokens:,}{limit}"


def describe_lane(use: LaneUse, engine: str) -> Wording:
    match use.level:
        case SpendLevel.REACHED:
            return Wording("At its limit", Tone.WAITING, "Its work waits until 00:00 UTC.")
        case SpendLevel.NEAR:
            return Wording("Near its limit", Tone.WAITING)
    if engine == "builtin":
        return Wording("Costs nothing now", Tone.IDLE, "It was given to the built-in engine.")
    return Wording("Within its limit" if use.limit else "No limit of its own", Tone.IDLE)


def describe_unknown(attempt: LlmAttempt) -> str:
    """Why nobody knows what it used."""
    if attempt.day is not None:
        return "its answer broke off; what it had told is counted"
    if attempt.http_status is None:
        return "no answer came"
    if attempt.http_status >= 400:
        return f"it answered with a refusal (HTTP {attempt.http_status})"
    return "its answer does not say"


def describe_trial(trial: Trial) -> str:
    """What came of asking a provider, and what it cost."""
    name = f"{trial.model} of {name_provider(trial.provider)}"
    if trial.works:
        return f"{name} works. {describe_trial_cost(trial)}"
    return f"{name} did not pass: {trial.failure} {describe_trial_cost(trial)}"


def describe_trial_cost(trial: Trial) -> str:
    if not trial.calls:
        return "Nothing was asked, so nothing was spent."
    if trial.unknown == trial.calls:
        return "What the question used is unknown."
    tail = f" What {trial.unknown} of {trial.calls} calls used is unknown." if trial.unknown else ""
    return (
        f"The question used {trial.tokens:,} tokens, {describe_money(trial.cost_usd)}, counted under "
        f"{name_lane(trial.lane).lower()}.{tail}"
    )
