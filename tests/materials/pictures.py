"""``python -m tests.materials.pictures FOLDER [PDF ...]``: documents as pictures, and their text layers, to look at.

Without a PDF it writes five: the sample candidate's resume and letter for two of the sample boards' postings, and a
resume in Japanese. Each page is FOLDER/NAME-PAGE.png; what a machine reads of each document is printed.
"""

import os
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import django

from materials.contracts import LetterDocument, ResumeDocument
from tests.materials.pdfium import extract_pages, take_pictures

WANTED = {
    "payments": ("greenhouse", "fernhill", "Senior Backend Engineer, Payments"),
    "japan": ("greenhouse", "minato-tech", "インフラエンジニア / Site Reliability Engineer"),
}


def write_documents() -> Iterator[tuple[str, bytes]]:
    from materials.rendering.documents import render_letter, render_resume
    from tests.materials.written_documents import JAPANESE_RESUME

    for (name, wanted), style in zip(WANTED.items(), ("modern", "plain"), strict=True):
        resume, letter = write_for(*wanted)
        yield f"resume-{name}", render_resume(resume, style=style).data
        yield f"letter-{name}", render_letter(letter, style=style).data
    yield "resume-japanese", render_resume(JAPANESE_RESUME).data


def write_for(kind: str, board: str, title: str) -> tuple[ResumeDocument, LetterDocument]:
    """The resume and the letter that the built-in engine makes for a posting of a sample board."""
    from discovery.sources.base import get_source
    from discovery.sources.bundled import find_bundled_board, read_bundled_board
    from materials.engines import WritingRequest, tailor_with_builtin, write_with_builtin
    from scoring.engines import AssessmentRequest, assess_with_builtin
    from tests.materials.candidate import load_sample

    found = find_bundled_board(kind, board)
    assert found is not None
    parsed = get_source(kind).parse_board(read_bundled_board(found), board=board)
    posting = next(posting for posting in parsed.postings if posting.title == title)
    profile, today = load_sample(), date(2026, 11, 29)
    report = assess_with_builtin(AssessmentRequest(posting.title, posting.description, profile, today))
    company = posting.company or found.company
    request = WritingRequest(profile, report, posting.title, company, posting.description, today.isoformat())
    return tailor_with_builtin(request), write_with_builtin(request)


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobctrl.settings")
    os.environ.setdefault("SECRET_KEY", "none is needed")  # so that no workspace is made
    django.setup()
    from materials.rendering import renderer

    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    given = ((f"{number}-{Path(path).stem}", Path(path).read_bytes()) for number, path in enumerate(sys.argv[2:], 1))
    taken = 0
    try:
        for name, pdf in given if sys.argv[2:] else write_documents():
            taken += take_pictures(pdf, folder, name)
            for number, text in enumerate(extract_pages(pdf), start=1):
                print(f"--- {name}, page {number}\n{text}\n")
    finally:
        renderer.shutdown()
    print(f"{taken} pictures in {folder}")


if __name__ == "__main__":
    main()
