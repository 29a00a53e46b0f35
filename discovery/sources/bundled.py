"""The sample boards shipped with the project, read by the same parsers as the real ones."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from discovery.sources.base import UnknownSource, get_source

FAMILY: Final = "bundled"
FOLDER: Final = Path(__file__).resolve().parent.parent / "bundled"


@dataclass(frozen=True, slots=True)
class BundledBoard:
    """``board`` is the token within ``kind``; the file is ``{kind}-{board}.json``."""

    kind: str
    board: str
    company: str
    path: Path


def list_bundled_boards() -> tuple[BundledBoard, ...]:
    """Sorted by kind and board. Reads the index only, not the boards."""
    index = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))
    boards = (
        BundledBoard(entry["kind"], entry["board"], entry["company"], FOLDER / f"{entry['kind']}-{entry['board']}.json")
        for entry in index["boards"]
    )
    return tuple(sorted(boards, key=lambda board: (board.kind, board.board)))


def find_bundled_board(kind: str, board: str) -> BundledBoard | None:
    return next((known for known in list_bundled_boards() if (known.kind, known.board) == (kind, board)), None)


def read_bundled_board(board: BundledBoard) -> object:
    """The board's answer in the true shape of its API, for ``get_source(board.kind).parse_board``."""
    get_source(board.kind)
    if board.path.parent != FOLDER:
        raise UnknownSource(f"{board.path.name} is not a bundled board")
    payload: object = json.loads(board.path.read_text(encoding="utf-8"))
    return payload
