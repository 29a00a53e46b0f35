"""Pydantic's findings in words that a person can act on."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from discovery.contracts.typography import clean_text
from discovery.profile_import.problems import Problem

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MAX_PROBLEMS = 200

_WORDS = {
    "not_a_date": (
        "This is not a date.",
        'Write "YYYY", "YYYY-MM" or "YYYY-MM-DD"; leave an end date out while it is open.',
    ),
    "not_a_link": ("This is not a web address.", "Give a full http or https address, or leave it empty."),
    "not_an_email": ("This is not an e-mail address.", "Write it as name@example.com, or leave it empty."),
    "end_before_start": ("The end date is before the start date.", "Swap or correct the two dates."),
    "missing": ("This is empty.", "Fill it in."),
    "string_type": ("Text is expected here.", "Put the value in quotes."),
    "string_unicode": ("This text holds characters that cannot be read.", "Type the text again as UTF-8."),
    "list_type": ("A list is expected here.", "Put the entries in square brackets."),
    "model_type": ("An object is expected here.", "Put the fields in curly braces."),
}
_SECTIONS = {"work": ("name", "company", "position"), "volunteer": ("organization", "position"), "projects": ("name",)}
_NAMES = {"work": "an employer or a position", "volunteer": "an organization or a position", "projects": "a name"}


def explain_errors(errors: "Sequence[ErrorDetails]") -> list[Problem]:
    """One problem per finding, in the file's order; beyond 200 they are only counted."""
    problems = [_explain_error(error) for error in errors[:MAX_PROBLEMS]]
    if len(errors) > MAX_PROBLEMS:
        problems.append(Problem("", f"There are {len(errors) - MAX_PROBLEMS} more problems.", "Mend these first."))
    return problems


def list_missing_facts(raw: Mapping[str, object]) -> list[Problem]:
    """What no single field can tell: a nameless entry, and a profile in which nobody did anything."""
    problems: list[Problem] = []
    filled = 0
    for section, names in _SECTIONS.items():
        rows = raw.get(section)
        if rows is None:
            continue
        if not isinstance(rows, list):
            filled += 1  # its type is refused already
            continue
        for index, row in enumerate(rows):
            if not _has_content(row):
                continue
            filled += 1
            if isinstance(row, dict) and not any(_has_content(row.get(name)) for name in names):
                problems.append(
                    Problem(f"{section}[{index}]", f"This entry needs {_NAMES[section]}.", "Fill it in or remove it.")
                )
    if not filled:
        problems.append(
            Problem(
                "work",
                "A profile without experience is refused: work, volunteer and projects are all empty.",
                "Add at least one job, volunteering or project.",
            )
        )
    return problems


def _explain_error(error: "ErrorDetails") -> Problem:
    path = ""
    for step in error["loc"]:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    kind = error["type"]
    limit = error.get("ctx", {}).get("max_length")
    if kind == "string_too_long":
        return Problem(path, f"This text is longer than {limit} characters.", "Shorten it.")
    if kind == "too_long":
        return Problem(path, f"This list has more than {limit} entries.", "Keep the ones that matter most.")
    if kind == "missing" and path == "basics.name":
        return Problem(path, "The name is empty.", "Fill in the candidate's full name.")
    reason, remedy = _WORDS.get(kind, ("This value cannot be used.", "Compare it with the JSON Resume schema."))
    return Problem(path, reason, remedy)


def _has_content(value: object) -> bool:
    if isinstance(value, str):
        return bool(clean_text(value))
    if isinstance(value, dict):
        return any(_has_content(item) for item in value.values())
    if isinstance(value, list):
        return any(_has_content(item) for item in value)
    return value is not None
