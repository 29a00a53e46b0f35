"""The declared settings as fields of a form, and what was typed back to values."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from operations.listing.events import EventFilter, list_events
from operations.models import StoredSetting
from operations.settings_store import (
    LIVE,
    NEXT_RUN,
    WORKER_RESTART,
    Choice,
    ChoicePerLane,
    Number,
    Setting,
    WholeNumber,
    check_boolean,
    get_setting,
    list_settings,
)
from operations.wording.lanes import name_lane

GROUPS: Final = ("Money", "Scoring", "Engines", "Discovery", "Worker")
EFFECTS: Final = {
    LIVE: "takes effect at once",
    NEXT_RUN: "from the next run on",
    WORKER_RESTART: "once the worker was restarted",
}
EVENTS_LOOKED_AT: Final = 200
_WHOLE = re.compile(r"[+-]?\d{1,15}", re.ASCII)


@dataclass(frozen=True, slots=True)
class LaneField:
    lane: str
    label: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class SettingField:
    """``kind`` is the input that it is typed into; ``value`` is the text in it, "yes" for a ticked box."""

    setting: Setting
    kind: str  # "whole" | "number" | "yes-no" | "choice" | "lanes" | "json"
    value: str
    default: str
    effect: str
    lanes: list[LaneField]
    changed_at: datetime | None = None
    changed_by: str = ""
    problem: str = ""

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
        check = self.setting.check
        return check.choices if isinstance(check, Choice | ChoicePerLane) else ()


@dataclass(frozen=True, slots=True)
class SettingGroup:
    name: str
    fields: list[SettingField]


def build_groups(
    *, typed: Mapping[str, str] | None = None, problems: Mapping[str, str] | None = None, group: str = ""
) -> list[SettingGroup]:
    """Every setting under its heading. In ``group``, what was typed stands instead of what is stored."""
    changes = map_changes()
    found: dict[str, list[SettingField]] = {name: [] for name in GROUPS}
    for setting in list_settings():
        given = typed if typed is not None and setting.group == group else None
        field = build_field(setting, given, (problems or {}).get(setting.key, ""), changes.get(setting.key))
        found.setdefault(setting.group, []).append(field)
    return [SettingGroup(name, fields) for name, fields in found.items() if fields]


def build_field(
    setting: Setting, typed: Mapping[str, str] | None, problem: str, change: tuple[datetime, str] | None
) -> SettingField:
    kind = choose_input(setting)
    value = get_setting(setting.key)
    lanes = []
    if isinstance(setting.check, ChoicePerLane):
        for lane in setting.check.lanes:
            name = f"{setting.key}-{lane}"
            chosen = value.get(lane, setting.check.choices[0]) if typed is None else typed.get(name, "")
            lanes.append(LaneField(lane, name_lane(lane), name, chosen))
    return SettingField(
        setting,
        kind,
        write_value(kind, value) if typed is None else typed.get(setting.key, ""),
        describe_default(setting),
        EFFECTS.get(setting.effect, setting.effect),
        lanes,
        change[0] if change else None,
        change[1] if change else "",
        problem,
    )


def choose_input(setting: Setting) -> str:
    if setting.check is check_boolean:
        return "yes-no"
    kinds = ((WholeNumber, "whole"), (Number, "number"), (Choice, "choice"), (ChoicePerLane, "lanes"))
    return next((kind for check, kind in kinds if isinstance(setting.check, check)), "json")


def write_value(kind: str, value: Any) -> str:
    if kind == "yes-no":
        return "yes" if value else ""
    if kind in ("lanes", "json"):
        return json.dumps(value)
    return f"{value:g}" if isinstance(value, float) and value < 1_000_000 else str(value)


def describe_default(setting: Setting) -> str:
    match choose_input(setting):
        case "yes-no":
            return "on" if setting.default else "off"
        case "lanes":
            return "the built-in engine for all"
        case kind:
            return write_value(kind, setting.default) or "none"


def read_value(setting: Setting, typed: Mapping[str, str]) -> Any:
    """What was typed as the value that it stands for; text that stands for none is left to ``check`` to refuse."""
    text = typed.get(setting.key, "").strip()
    match choose_input(setting):
        case "yes-no":
            return text == "yes"
        case "whole":
            return int(text) if _WHOLE.fullmatch(text) else text
        case "number":
            return _read_number(text)
        case "lanes":
            return _read_lanes(setting, typed)
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
