"""The one settings store: each app declares its keys, values are typed, changes are audited."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from operations.compiled import CompiledQuery
from operations.database import writer
from operations.errors import InvalidSetting
from operations.eventlog import append
from operations.events import SettingsChanged
from operations.models import StoredSetting

LIVE = "live"
NEXT_RUN = "next run"
WORKER_RESTART = "worker restart"
REASON_LIMIT = 160
QUOTED = 60

T = TypeVar("T")


class OutOfRange(ValueError):
    """A number outside of its range; ``nearest`` is the bound that a stored value is clamped to."""

    def __init__(self, value: int, nearest: int) -> None:
        self.nearest = nearest
        super().__init__(f"{value} is out of range")


class WrongForSome(ValueError):
    """A mapping that is wrong for some lanes; ``others`` is what a stored one still says of the others."""

    def __init__(self, reason: str, others: dict[str, Any]) -> None:
        self.others = others
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Setting:
    """One declared key. ``check`` returns the value to store or raises ``ValueError`` with the reason.

    ``group`` is the heading that it stands under on the settings page, ``help`` a sentence below its label.
    """

    key: str
    default: Any
    check: Callable[[Any], Any]
    allowed: str
    effect: str = LIVE
    label: str = ""
    group: str = "Other"
    help: str = ""


#: They are few, so all are read whichever is asked for; what the engine noted for itself begins with "_" (before "a").
_STORED = CompiledQuery(lambda: StoredSetting.objects.filter(key__gte="a").order_by().values_list("key", "value"))
_declared: dict[str, Setting] = {}


def declare(*settings: Setting) -> None:
    for setting in settings:
        if setting.key in _declared:
            raise ValueError(f"setting {setting.key} is declared twice")
        _declared[setting.key] = setting


def list_settings() -> list[Setting]:
    return list(_declared.values())


def get_setting(key: str) -> Any:
    """The stored value, else the default. One out of range is clamped, any other wrong one ignored; doctor says so."""
    return get_settings(key)[0]


def get_settings(*keys: str) -> list[Any]:
    """As ``get_setting``, several with one query."""
    stored = dict(_STORED.rows())
    return [_read(_declared[key], stored) for key in keys]


def _read(setting: Setting, stored: Mapping[str, Any]) -> Any:
    if setting.key not in stored:
        return setting.default
    try:
        return setting.check(stored[setting.key])
    except OutOfRange as error:
        return error.nearest
    except WrongForSome as error:
        return error.others
    except ValueError:
        return setting.default


def find_setting(key: str, *, default: Any) -> Any:
    """As ``get_setting``, for a key of an app above that may not be installed."""
    return get_setting(key) if key in _declared else default


def list_unusable_settings() -> list[str]:
    """Stored values that are refused when read, each with its key, value and range."""
    problems = []
    for key, value in StoredSetting.objects.values_list("key", "value"):
        setting = _declared.get(key)
        if setting is None:
            continue
        try:
            setting.check(value)
        except ValueError as error:
            problems.append(f"{key}: {error}; allowed: {setting.allowed}")
    return problems


def get_lane_provider(lane: str) -> str:
    """The provider of one lane; ``builtin`` unless another was chosen."""
    return str(get_setting("provider").get(lane, "builtin"))


def change_settings(changes: Mapping[str, Any], *, actor: str) -> None:
    """Store several values or none of them. Raises ``InvalidSetting`` naming each field, reason and range."""
    problems: dict[str, str] = {}
    accepted: dict[str, Any] = {}
    for key, value in changes.items():
        setting = _declared.get(key)
        if setting is None:
            problems[key] = "there is no such setting"
            continue
        try:
            accepted[key] = setting.check(value)
        except ValueError as error:
            problems[key] = f"{str(error)[:REASON_LIMIT]}; allowed: {setting.allowed}"
    if problems:
        raise InvalidSetting(problems)
    stored = dict(StoredSetting.objects.filter(key__in=accepted).values_list("key", "value"))
    accepted = {key: value for key, value in accepted.items() if value != stored.get(key, _declared[key].default)}
    if not accepted:
        return
    with writer():
        for key, value in accepted.items():
            StoredSetting.objects.update_or_create(key=key, defaults={"value": value})
        append(SettingsChanged(keys=tuple(sorted(accepted)), actor=actor))


def read_marker(key: str, *, default: Any) -> Any:
    """What the engine noted for itself beside the settings (which value it has applied, say)."""
    return StoredSetting.objects.filter(key=f"_{key}").values_list("value", flat=True).first() or default


def store_marker(key: str, value: Any) -> None:
    with writer():
        StoredSetting.objects.update_or_create(key=f"_{key}", defaults={"value": value})


# --- checks ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WholeNumber:
    low: int
    high: int

    def __call__(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"{_quote(value)} is not a whole number")
        if not self.low <= value <= self.high:
            raise OutOfRange(value, min(max(value, self.low), self.high))
        return value


@dataclass(frozen=True, slots=True)
class Number:
    low: float

    def __call__(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{_quote(value)} is not a number")
        try:
            number = float(value)
        except OverflowError:
            raise ValueError("it is too large") from None
        if not math.isfinite(number):
            raise ValueError(f"{_quote(value)} is not a number")
        if number < self.low:
            raise ValueError(f"{value} is out of range")
        return number


@dataclass(frozen=True, slots=True)
class Choice:
    choices: tuple[str, ...]

    def __call__(self, value: Any) -> str:
        if value not in self.choices:
            raise ValueError(f"{_quote(value)} is not one of them")
        return str(value)


@dataclass(frozen=True, slots=True)
class ChoicePerLane:
    """``{lane: choice}``; a lane that is absent has the first choice. ``noun`` is what a choice is called.

    Only the lanes in ``open_lanes`` have another than the first.
    """

    lanes: tuple[str, ...]
    choices: tuple[str, ...]
    noun: str
    open_lanes: tuple[str, ...]

    def __call__(self, value: Any) -> dict[str, str]:
        return _check_lanes(value, self.lanes, self._check)

    def _check(self, lane: str, choice: Any) -> str:
        if choice not in self.choices:
            raise ValueError(f"{_quote(choice)} is not a {self.noun} for {lane}")
        if choice != self.choices[0] and lane not in self.open_lanes:
            raise ValueError(f"{lane} has only {self.choices[0]} so far")
        return str(choice)


@dataclass(frozen=True, slots=True)
class NumberPerLane:
    """``{lane: whole number from 0}``."""

    lanes: tuple[str, ...]

    def __call__(self, value: Any) -> dict[str, int]:
        return _check_lanes(value, self.lanes, self._check)

    def _check(self, lane: str, number: Any) -> int:
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= 2**53:
            raise ValueError(f"{_quote(number)} is not a number of tokens for {lane}")
        return number


@dataclass(frozen=True, slots=True)
class TextPerLane:
    """``{lane: text}``, one printable line of at most ``longest`` characters each; "" is left out."""

    lanes: tuple[str, ...]
    longest: int

    def __call__(self, value: Any) -> dict[str, str]:
        return {lane: text for lane, text in _check_lanes(value, self.lanes, self._check).items() if text}

    def _check(self, lane: str, text: Any) -> str:
        if not isinstance(text, str) or not text.isprintable() or len(text) > self.longest:
            raise ValueError(f"{_quote(text)} is not a name of at most {self.longest} characters for {lane}")
        return text.strip()


def _check_lanes(value: Any, lanes: tuple[str, ...], check: Callable[[str, Any], T]) -> dict[str, T]:
    """Raises ``ValueError`` with the first reason; ``WrongForSome`` where anything is left beside what is wrong."""
    if not isinstance(value, dict):
        raise ValueError(f"{_quote(value)} is not a mapping of lanes")
    right: dict[str, T] = {}
    reason = ""
    for lane, given in value.items():
        try:
            if lane not in lanes:
                raise ValueError(f"there is no lane {_quote(lane)}")
            right[lane] = check(lane, given)
        except ValueError as error:
            reason = reason or str(error)
    if reason:
        raise WrongForSome(reason, right)
    return right


def _quote(value: Any) -> str:
    """Short enough that the reason after it is not cut off."""
    text = repr(value)
    return text if len(text) <= QUOTED else f"{text[:QUOTED]}…"


def check_integer(low: int, high: int) -> WholeNumber:
    return WholeNumber(low, high)


def check_number(low: float) -> Number:
    return Number(low)


def check_choice(*choices: str) -> Choice:
    return Choice(choices)


def check_boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{_quote(value)} is neither true nor false")
    return value
