"""Why a document is refused."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GroundingProblem:
    """``where`` is a path such as "experience[0].lines[2]"; ``text`` is what stands there."""

    where: str
    reason: str
    text: str = ""


class NotGrounded(Exception):
    """The document says something that the profile does not."""

    def __init__(self, problems: Sequence[GroundingProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return " ".join([self.__doc__ or "", *(f"{problem.where}: {problem.reason}" for problem in self.problems)])
