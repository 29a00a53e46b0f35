"""Bytes to a JSON object, refusing what a careful reader must not guess about."""

import json
from typing import NoReturn

from discovery.profile_import.problems import Problem, ProfileRefused

MAX_BYTES = 1_000_000
MAX_DEPTH = 20
#: How documents begin that people keep their resume in.
DOCUMENTS = (
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a Word or OpenDocument file, or another archive"),
    (b"\xd0\xcf\x11\xe0", "an old Word file"),
    (b"{\\rtf", "an RTF document"),
    (b"<", "a web page or XML"),
)
_MAX_KEY = 60


class _Object(dict[str, object]):
    """A JSON object that remembers which of its keys were given twice."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        seen: set[str] = set()
        self.repeated = [key for key, _ in pairs if key in seen or seen.add(key)]  # type: ignore[func-returns-value]


def decode_profile(data: bytes | str) -> dict[str, object]:
    """The file's top object. Raises ProfileRefused."""
    text = _decode_text(data)
    try:
        value: object = json.loads(text, object_pairs_hook=_Object, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        _refuse(
            f"This is not JSON: it cannot be read at line {error.lineno}, column {error.colno}.",
            "Check the file with a JSON editor; JSON Resume files are plain JSON.",
        )
    except RecursionError:
        _refuse_depth()
    except ValueError:
        _refuse("This is not JSON: it holds a number that cannot be read.", "Write numbers and dates as quoted text.")
    if not isinstance(value, dict):
        _refuse(
            "The file holds no JSON object at its top level.",
            'A JSON Resume starts with "{" and has "basics" and "work" in it.',
        )
    _check_structure(value)
    return value


def _decode_text(data: bytes | str) -> str:
    _refuse_documents(data if isinstance(data, bytes) else data[:16].encode("utf-8", "replace"))
    size = len(data) if isinstance(data, bytes) else len(data.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        _refuse("The file is larger than 1 MB.", "Remove pictures and other embedded files from it.")
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    try:
        return data.decode(json.detect_encoding(data))
    except UnicodeDecodeError:
        _refuse("The file is not UTF-8 text.", "Save it as UTF-8.")


def _refuse_documents(data: bytes) -> None:
    begins = data[:16].removeprefix(b"\xef\xbb\xbf").lstrip()
    for magic, kind in DOCUMENTS:
        if begins.startswith(magic):
            _refuse(
                f"This is {kind}, and only JSON Resume is read.",
                "Write the resume as JSON (discovery/sample_profile.json shows how; see jsonresume.org); import that.",
            )


def _check_structure(top: dict[str, object]) -> None:
    problems: list[Problem] = []
    waiting: list[tuple[str, object, int]] = [("", top, 1)]
    while waiting:
        path, value, depth = waiting.pop()
        if depth > MAX_DEPTH:
            _refuse_depth()
        if isinstance(value, _Object):
            problems += [
                Problem(_join_path(path, key), "This key is given more than once.", "Keep one of them.")
                for key in dict.fromkeys(value.repeated)
            ]
            waiting += [(_join_path(path, key), item, depth + 1) for key, item in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{path}[{index}]", item, depth + 1) for index, item in enumerate(value)]
    if problems:
        raise ProfileRefused(sorted(problems, key=lambda problem: problem.field))


def _join_path(path: str, key: str) -> str:
    short = key[:_MAX_KEY].encode("utf-8", "replace").decode("utf-8")
    return f"{path}.{short}" if path else short


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _refuse_depth() -> NoReturn:
    _refuse(f"The file is nested more than {MAX_DEPTH} levels deep.", "Use the plain JSON Resume structure.")


def _refuse(reason: str, remedy: str) -> NoReturn:
    raise ProfileRefused([Problem("", reason, remedy)]) from None
