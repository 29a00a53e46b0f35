"""A progress line on the terminal, kept off standard output."""

from types import TracebackType
from typing import Any, Self


class Terminal:
    """Rewrites one line on a terminal; elsewhere prints a line only when it changed."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.is_live = stream.isatty()
        self.shown = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.is_live and self.shown:
            self.stream.write("")

    def say(self, line: str) -> None:
        """A line that stays."""
        if self.is_live and self.shown:
            self.stream.write("")
        self.stream.write(line)
        self.stream.flush()
        self.shown = ""

    def show(self, line: str) -> None:
        if line == self.shown:
            return
        if self.is_live:
            self.stream.write(f"\r{line.ljust(len(self.shown))}", ending="")
            self.stream.flush()
        else:
            self.stream.write(line)
        self.shown = line
