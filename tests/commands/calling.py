"""Calling management commands as a person does, with what they print."""

from dataclasses import dataclass
from io import StringIO
from typing import Any

from django.core.management import call_command


@dataclass(frozen=True, slots=True)
class Printed:
    code: int
    out: str
    err: str


class _Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def call(name: str, *arguments: str, on_terminal: bool = False, **options: Any) -> Printed:
    """Runs ``manage.py NAME``; an exit code is caught, a ``CommandError`` is not."""
    out, err = StringIO(), _Terminal() if on_terminal else StringIO()
    code = 0
    try:
        call_command(name, *arguments, stdout=out, stderr=err, **options)
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    return Printed(code, out.getvalue(), err.getvalue())
