"""Why a profile file is refused. Texts never quote the file: they may end in a log or in Temporal's history."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to mend. ``field`` is a path such as "work[2].startDate", or "" for the file as a whole."""

    field: str
    reason: str
    remedy: str


class ProfileRefused(Exception):
    """The profile was refused; nothing of it was imported."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        lines = (f"{problem.field}: {problem.reason}" if problem.field else problem.reason for problem in self.problems)
        return " ".join([self.__doc__ or "", *lines])
