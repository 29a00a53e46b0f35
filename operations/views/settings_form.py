"""The declared settings as fields of a form, and what was typed back to values."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from operations.listing.events import EventFilter, list_events
from operations.llm.providers import PROVIDERS, is_set_up
from operations.models import StoredSetting
from operations.settings_store import (
    LIVE,
    NEXT_RUN,
    WORKER_RESTART,
    Choice,
    ChoicePerLane,
    Number,
    NumberPerLane,
    Setting,
    TextPerLane,
    WholeNumber,
    check_boolean,
    get_setting,
    list_settings,
)
from operations.wording.lanes import name_lane, name_provider

GROUPS: Final = ("Money", "Scoring", "Engines", "Discovery", "Worker")
EFFECTS: Final = {
    LIVE: "takes effect at once",
    NEXT_RUN: "from the next run on",
    WORKER_RESTART: "once the worker was restarted",
}
EVENTS_LOOKED_AT: Final = 200
PER_LANE: Final = (ChoicePerLane, NumberPerLane, TextPerLane)
_WHOLE = re.compile(r"[+-]?\d{1,15}", re.ASCII)


@dataclass(frozen=True, slots=True)
class LaneField:
    """``model`` is the field of the lane's model beside that of its engine."""

    lane: str
    label: str
    name: str
    value: str
    model: "LaneField | None" = None
    is_open: bool = True  # false: only the first choice can do this work


@dataclass(frozen=True, slots=True)
class Option:
    """A choice of a lane; one that is not set up can be kept, but not chosen anew."""

    value: str
    label: str
    is_usable: bool = True


@dataclass(frozen=True, slots=True)
class SettingField:
    """``kind`` is the input that it is typed into; ``value`` is the text in it, "yes" for a ticked box."""

    setting: Setting
    kind: str  # "whole" | "number" | "yes-no" | "choice" | "lanes" | "lane-numbers" | "json"
    value: str
    default: str
    effect: str
    lanes: list[LaneField]
    changed_at: datetime | None = None
    changed_by: str = ""
    problem: str = ""
    options: tuple[Option, ...] = ()
    beside: Setting | None = None  # shown within this field, lane by lane

    @property
    def chosen(self) -> int:
        """How many lanes differ from the default."""
        empty = self.options[0].value if self.options else ""
        return sum(lane.value != empty for lane in self.lanes if lane.is_open)

    @property
    def low(self) -> str:
        """A property, since a template would call ``check`` on its way to the bound."""
        check = self.setting.check
        return f"{check.low:g}" if isinstance(check, WholeNumber | Number) else ""

    @property
    def high(self) -> str:
        check = self.setting.check
        return str(check.high) if isinstance(check, WholeNumber) else ""

    @property
    def choices(self) -> tuple[str, ...]:
        return self.setting.check.choices if isinstance(self.setting.check, Choice) else ()


@dataclass(frozen=True, slots=True)
class SettingGroup:
    name: str
    fields: list[SettingField]


def build_groups(
    *, typed: Mapping[str, str] | None = None, problems: Mapping[str, str] | None = None, group: str = ""
) -> list[SettingGroup]:
    """Every setting under its heading, the models beside their engines. In ``group``, what was typed stands instead of
    what is stored."""
    changes = map_changes()
    found: dict[str, list[SettingField]] = {name: [] for name in GROUPS}
    for setting in list_settings():
        given = typed if typed is not None and setting.group == group else None
        field = build_field(setting, given, (problems or {}).get(setting.key, ""), changes.get(setting.key))
        found.setdefault(setting.group, []).append(field)
    for name in found:
        found[name] = join_models(found[name])
    return [SettingGroup(name, fields) for name, fields in found.items() if fields]


def join_models(fields: list[SettingField]) -> list[SettingField]:
    """The models as a part of the engines' field, lane by lane."""
    models = next((field for field in fields if field.setting.key == "model"), None)
    engines = next((field for field in fields if field.setting.key == "provider"), None)
    if models is None or engines is None:
        return fields
    lanes = [replace(lane, model=model) for lane, model in zip(engines.lanes, models.lanes, strict=True)]
    problem = " ".join(filter(None, (engines.problem, models.problem)))
    joined = replace(engines, lanes=lanes, problem=problem, beside=models.setting)
    return [joined if field is engines else field for field in fields if field is not models]


def build_field(
    setting: Setting, typed: Mapping[str, str] | None, problem: str, change: tuple[datetime, str] | None
) -> SettingField:
    kind = choose_input(setting)
    value = get_setting(setting.key)
    return SettingField(
        setting,
        kind,
        write_value(kind, value) if typed is None else typed.get(setting.key, ""),
        describe_default(setting),
        EFFECTS.get(setting.effect, setting.effect),
        build_lanes(setting, value, typed),
        change[0] if change else None,
        change[1] if change else "",
        problem,
        list_options(setting) if kind == "lanes" else (),
    )


def list_options(setting: Setting) -> tuple[Option, ...]:
    names = setting.check.choices if isinstance(setting.check, ChoicePerLane) else ()
    return tuple(
        Option(name, name_provider(name))
        if name not in PROVIDERS or is_set_up(name)
        else Option(name, f"{name_provider(name)} (not set up)", is_usable=False)
        for name in names
    )


def build_lanes(setting: Setting, value: Any, typed: Mapping[str, str] | None) -> list[LaneField]:
    """A field for each lane of a setting that has one value a lane; a lane without a value has an empty one."""
    check = setting.check
    if not isinstance(check, PER_LANE):
        return []
    empty = check.choices[0] if isinstance(check, ChoicePerLane) else ""
    open_lanes = check.open_lanes if isinstance(check, ChoicePerLane) else check.lanes
    fields = []
    for lane in check.lanes:
        name = f"{setting.key}-{lane}"
        given = str(value.get(lane) or empty) if typed is None else typed.get(name, "")
        fields.append(LaneField(lane, name_lane(lane), name, given, is_open=lane in open_lanes))
    return fields


def choose_input(setting: Setting) -> str:
    if setting.check is check_boolean:
        return "yes-no"
    kinds = (
        (WholeNumber, "whole"), (Number, "number"), (Choice, "choice"), (ChoicePerLane, "lanes"),
        (NumberPerLane, "lane-numbers"), (TextPerLane, "lane-texts"),
    )  # fmt: skip
    return next((kind for check, kind in kinds if isinstance(setting.check, check)), "json")


def write_value(kind: str, value: Any) -> str:
    if kind == "yes-no":
        return "yes" if value else ""
    if kind == "json" or kind.startswith("lane"):
        return json.dumps(value)
    return f"{value:g}" if isinstance(value, float) and value < 1_000_000 else str(value)


def describe_default(setting: Setting) -> str:
    match choose_input(setting):
        case "yes-no":
            return "on" if setting.default else "off"
        case "lanes":
            return "the built-in engine for all"
        case "lane-numbers" | "lane-texts":
            return "none"
        case kind:
            return write_value(kind, setting.default) or "none"


def read_value(setting: Setting, typed: Mapping[str, str]) -> Any:
    """What was typed as the value that it stands for; text that stands for none is left to ``check`` to refuse."""
    text = typed.get(setting.key, "").strip()
    match choose_input(setting):
        case "yes-no":
            return text == "yes"
        case "whole":
            return _read_whole(text)
        case "number":
            return _read_number(text)
        case "lanes":
            return _read_lanes(setting, typed)
        case "lane-numbers":
            return {lane: _read_whole(given) for lane, given in _list_given(setting, typed)}
        case "lane-texts":
            return dict(_list_given(setting, typed))
        case "json":
            return _read_json(text)
    return text


def list_changes(group: str, typed: Mapping[str, str]) -> dict[str, Any]:
    """The values of one group that differ from what is stored."""
    stored = dict(StoredSetting.objects.values_list("key", "value"))
    changes = {}
    for setting in list_settings():
        if setting.group != group:
            continue
        value = read_value(setting, typed)
        held = stored.get(setting.key, setting.default)
        if value != held or isinstance(value, bool) != isinstance(held, bool):
            changes[setting.key] = value
    return changes


def map_changes() -> dict[str, tuple[datetime, str]]:
    """When each setting was changed last, and by whom; of the newest 200 changes."""
    found: dict[str, tuple[datetime, str]] = {}
    for event in list_events(EventFilter(event_type="SettingsChanged"), limit=EVENTS_LOOKED_AT).rows:
        for key in event.payload.get("keys", ()):
            found.setdefault(key, (event.recorded_at, str(event.payload.get("actor", ""))))
    return found


def _list_given(setting: Setting, typed: Mapping[str, str]) -> list[tuple[str, str]]:
    """Lane and what was typed for it, where anything was."""
    lanes: tuple[str, ...] = setting.check.lanes if isinstance(setting.check, PER_LANE) else ()
    given = [(lane, typed.get(f"{setting.key}-{lane}", "").strip()) for lane in lanes]
    return [(lane, text) for lane, text in given if text]


def _read_whole(text: str) -> Any:
    return int(text) if _WHOLE.fullmatch(text) else text


def _read_number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _read_lanes(setting: Setting, typed: Mapping[str, str]) -> dict[str, str]:
    """Lanes left at the first choice are not stored."""
    check = setting.check
    if not isinstance(check, ChoicePerLane):
        return {}
    given = {lane: typed.get(f"{setting.key}-{lane}", check.choices[0]) for lane in check.lanes}
    return {lane: choice for lane, choice in given.items() if choice != check.choices[0]}


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
