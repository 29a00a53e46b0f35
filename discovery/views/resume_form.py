"""The profile's forms: a part of a JSON Resume to fields, and the posted fields back to that part."""

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from discovery.profile_import import Problem
from discovery.profile_import.limits import MAX_ENTRIES
from discovery.views.resume_fields import LINES, FieldSpec, ListSpec, PartSpec

Resume = dict[str, Any]

_ACTION = re.compile(r"(add|remove|up)-([a-z]+)(?:-(\d{1,3}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class BoundField:
    """``name`` is also the element's id. ``problem`` is "" where nothing is wrong."""

    spec: FieldSpec
    name: str
    value: str
    problem: str = ""

    @property
    def rows(self) -> int:
        """Of its textarea: what it holds and room for more."""
        if self.spec.kind == LINES:
            return max(4, min(self.value.count("\n") + 3, 14))
        return 3 if len(self.value) < 300 else 6


@dataclass(frozen=True, slots=True)
class BoundEntry:
    index: int
    title: str
    fields: list[BoundField]
    problem: str = ""

    @property
    def has_problem(self) -> bool:
        return bool(self.problem) or any(field.problem for field in self.fields)


@dataclass(frozen=True, slots=True)
class BoundList:
    spec: ListSpec
    entries: list[BoundEntry]


@dataclass(frozen=True, slots=True)
class BoundForm:
    """``problems`` are those that belong to no field shown."""

    part: PartSpec
    fields: list[BoundField]
    lists: list[BoundList]
    problems: list[Problem]


def fill_form(part: PartSpec, resume: Resume, *, problems: Sequence[Problem] = ()) -> BoundForm:
    """The form of one part with what ``resume`` holds, and each problem at the field that it is about."""
    waiting = list(problems)
    basics = resume.get("basics") or {}
    fields = [_bind(spec, f"basics-{spec.path}", f"basics.{spec.path}", basics, waiting) for spec in part.fields]
    lists = [_bind_list(spec, _read_list(resume, spec), waiting) for spec in part.lists]
    return BoundForm(part, fields, lists, waiting)


def read_posted(part: PartSpec, data: Mapping[str, str]) -> Resume:
    """What was typed, as the part's own keys of a JSON Resume; blank entries keep their place."""
    posted: Resume = {}
    if part.fields:
        posted["basics"] = _read_fields(part.fields, data, prefix="basics")
    for spec in part.lists:
        entries = [
            _read_fields(spec.fields, data, prefix=f"{spec.key}-{index}")
            for index in range(_read_count(data.get(f"{spec.key}-count", "")))
        ]
        _write_list(posted, spec, entries)
    return posted


def merge_part(part: PartSpec, resume: Resume, posted: Resume) -> Resume:
    """``resume`` with the part replaced by what was posted; what the form does not ask for stays."""
    merged = deepcopy(resume)
    if part.fields:
        kept = {name: value for name, value in (merged.get("basics") or {}).items() if name == "profiles"}
        merged["basics"] = kept | posted["basics"]
    for spec in part.lists:
        _write_list(merged, spec, _read_list(posted, spec))
    return merged


def change_entries(part: PartSpec, posted: Resume, *, action: str) -> None:
    """Add, remove or move an entry of what was typed. An action that is not known does nothing."""
    found = _ACTION.fullmatch(action)
    spec = next((spec for spec in part.lists if found and spec.key == found[2]), None)
    if found is None or spec is None:
        return
    entries, index = _read_list(posted, spec), int(found[3] or 0)
    if found[1] == "add":
        if len(entries) < MAX_ENTRIES:
            entries.insert(0, {})
    elif index >= len(entries):
        return
    elif found[1] == "remove":
        del entries[index]
    elif index > 0:
        entries[index - 1 : index + 1] = [entries[index], entries[index - 1]]
    _write_list(posted, spec, entries)


# --- to the form -------------------------------------------------------------------------------


def _bind_list(spec: ListSpec, entries: Sequence[Mapping[str, Any]], problems: list[Problem]) -> BoundList:
    bound = []
    for index, entry in enumerate(entries):
        place, path = f"{spec.key}-{index}", f"{spec.path}[{index}]"
        fields = [
            _bind(field, f"{place}-{field.path}", f"{path}.{field.path}", entry, problems) for field in spec.fields
        ]
        title = " · ".join(field.value for field in fields[:2] if field.value and field.spec.kind != LINES)
        bound.append(BoundEntry(index, title or f"New {spec.noun}", fields, _take(problems, path, exact=True)))
    return BoundList(spec, bound)


def _bind(
    spec: FieldSpec, name: str, path: str, entry: Mapping[str, Any], problems: list[Problem]
) -> BoundField:  # fmt: skip
    value: Any = entry
    for step in spec.path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    text = "\n".join(value) if isinstance(value, list) else str(value or "")
    return BoundField(spec, name.replace(".", "-"), text, _take(problems, path))


def _take(problems: list[Problem], path: str, *, exact: bool = False) -> str:
    """What is wrong at this place, in words; taken off the list."""
    found = [
        problem for problem in problems if problem.field == path or (not exact and problem.field.startswith(f"{path}["))
    ]
    for problem in found:
        problems.remove(problem)
    return " ".join(_say(problem, path) for problem in found)


def _say(problem: Problem, path: str) -> str:
    line = re.match(r"\[(\d+)\]", problem.field[len(path) :])
    where = f"Line {int(line[1]) + 1}: " if line else ""
    return f"{where}{problem.reason} {problem.remedy}".strip()


# --- from the form -----------------------------------------------------------------------------


def _read_fields(specs: Iterable[FieldSpec], data: Mapping[str, str], *, prefix: str) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    for spec in specs:
        typed = data.get(f"{prefix}-{spec.path}".replace(".", "-"), "")
        value: Any = _split_lines(typed) if spec.kind == LINES else typed.strip()
        if not value:
            continue
        *nested, last = spec.path.split(".")
        target = entry
        for step in nested:
            target = target.setdefault(step, {})
        target[last] = value
    return entry


def _split_lines(typed: str) -> list[str]:
    return typed.replace("\r\n", "\n").rstrip().split("\n") if typed.strip() else []


def _read_count(text: str) -> int:
    """One more than is allowed at most, so that the reader refuses what is too long."""
    return min(int(text), MAX_ENTRIES + 1) if text.isascii() and text.isdigit() and len(text) <= 6 else 0


def _read_list(resume: Mapping[str, Any], spec: ListSpec) -> list[dict[str, Any]]:
    holder = resume.get(spec.under) or {} if spec.under else resume
    return list(holder.get(spec.key) or [])


def _write_list(resume: Resume, spec: ListSpec, entries: list[dict[str, Any]]) -> None:
    holder = resume.setdefault(spec.under, {}) if spec.under else resume
    if entries:
        holder[spec.key] = entries
    else:
        holder.pop(spec.key, None)
