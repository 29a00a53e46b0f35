import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader

from materials.builtin import ONE_PAGE, TWO_PAGES, ResumeLimits
from materials.builtin.layout import estimate_lines
from materials.chromium import ChromiumMissing, find_chromium, find_cjk_font
from materials.contracts import ContactLine, LetterDocument, ResumeDocument
from materials.rendering import renderer as render_thread
from materials.rendering.documents import PAPERS, STYLES, Paper, Style, render_letter, render_resume
from materials.rendering.failures import RenderFailed, TooLong
from materials.rendering.pdf_reading import read_pdf
from materials.rendering.text_layer import expected_text, verify_drawing, verify_text_layer
from tests.materials import pictures
from tests.materials.written_documents import (
    ACCENTED_RESUME,
    JAPANESE_RESUME,
    LETTER,
    LONG_RESUME,
    MIXED_LETTER,
    SHORT_RESUME,
    write_entry,
    write_lines,
)

try:
    find_chromium()
    MISSING = ""
except ChromiumMissing as error:
    MISSING = str(error)

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(MISSING), reason=MISSING or "Chromium is here")]
needs_cjk = pytest.mark.skipif(not find_cjk_font(), reason="no Japanese font is installed (fonts-noto-cjk)")

REPOSITORY = Path(__file__).resolve().parents[2]
LATIN_FONTS = [path for name in ("liberation", "dejavu") if (path := Path("/usr/share/fonts/truetype", name)).is_dir()]
CJK_FONTS = Path("/usr/share/fonts/opentype/noto")
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>{folders}<cachedir>{cache}</cachedir></fontconfig>"""


@pytest.fixture(scope="module", autouse=True)
def _close_shared_browser() -> Iterator[None]:
    yield
    render_thread.shutdown()


def list_links(pdf: bytes) -> list[str]:
    pages = PdfReader(BytesIO(pdf)).pages
    return [note.get_object()["/A"]["/URI"] for page in pages for note in page.get("/Annots", [])]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("paper", PAPERS)
def test_it_writes_a_long_resume_on_two_pages_of_the_paper_asked_for(style: Style, paper: Paper) -> None:
    pdf = render_resume(LONG_RESUME, style=style, paper=paper)

    assert pdf.pages == 2
    width, height = (round(float(side)) for side in PdfReader(BytesIO(pdf.data)).pages[0].mediabox[2:])
    assert (width, height) == ((595, 842) if paper == "a4" else (612, 792))


def test_it_reads_back_as_it_was_typed_in_order() -> None:
    pdf = render_resume(SHORT_RESUME)

    assert pdf.pages == 1
    text = " ".join(pdf.text.split())
    assert "Introduced an efficient office workflow for schema changes" in text
    assert "Staff Software Engineer March 2021 – present Northwind Payments B.V., Amsterdam" in text
    assert "the full-stack tracking product" in text
    assert "the literal $& of the old system" in text
    assert text.index("Summary") < text.index("Skills") < text.index("Experience") < text.index("Education")


@pytest.mark.parametrize("style", STYLES)
def test_it_embeds_accents_and_other_alphabets(style: Style) -> None:
    text = render_resume(ACCENTED_RESUME, style=style).text

    for word in ("Čapek-Łukaszewicz", "Ångström", "İstanbul", "Αθήνα", "Київ", "Expérience professionnelle"):
        assert word in text


@needs_cjk
@pytest.mark.parametrize("style", STYLES)
def test_it_names_the_ideographs_that_were_written_not_their_look_alikes(style: Style) -> None:
    text = "".join(render_resume(JAPANESE_RESUME, style=style).text.split())

    for word in ("山田太郎", "バックエンド・エンジニア", "金子・山本システム株式会社", "神戸", "長く西の青い麦"):
        assert word in text


@needs_cjk
@pytest.mark.parametrize("style", STYLES)
def test_every_space_that_was_written_is_drawn_and_no_other(style: Style) -> None:
    lines = [
        "I apply to 株式会社ミナトテック, whose work on 決済 (payments) I know; 東京, 神戸 and Cork.",
        "Python、Go と Rust を使う。",
        "I kept 100 % of it: C++, C#, .NET and the A/B “tests”.",
    ]
    reading = read_pdf(render_letter(MIXED_LETTER, style=style).data)

    verify_drawing(reading.drawn, expected=lines)
    with pytest.raises(RenderFailed, match="There is a space too many"):  # by pypdf's estimate
        verify_drawing(reading.text, expected=lines)


@needs_cjk
@pytest.mark.parametrize(
    ("shown", "written", "read"),
    [
        ("ミナトテック <b>, in</b> Kobe", "ミナトテック, in Kobe", "ク ,"),
        ("神戸 の港", "神戸の港", "戸 の"),
        ("決済<b>(payments)</b>", "決済 (payments)", r"済\("),
        ("100 % of them ; all", "100 % of them; all", "m ;"),
    ],
)
def test_it_refuses_a_page_with_a_space_too_many_or_too_few(shown: str, written: str, read: str) -> None:
    pdf = render_thread.render_pdf(f"<meta charset=utf-8><body style='font: 16px serif'>{shown}", timeout_seconds=30)

    with pytest.raises(RenderFailed, match=read):
        verify_text_layer(pdf, expected=[written])


@needs_cjk
@pytest.mark.parametrize("families", [["dejavu"], ["liberation"], ["liberation", "dejavu"]], ids=" and ".join)
def test_chromes_own_reader_finds_every_word_whichever_fonts_there_are(tmp_path: Path, families: list[str]) -> None:
    """A line drawn as a line, its spaces in it, leaves nothing to guess; and the pages are those that were aimed at."""
    folders = [folder for folder in LATIN_FONTS if folder.name in families]
    if len(folders) < len(families):
        pytest.skip(f"not installed: fonts-{' or fonts-'.join(families)}")
    left_out = [] if "dejavu" in families else ["borrowed"]  # Liberation has not all of its letters
    command = [sys.executable, "-m", "tests.materials.under_fonts", *left_out]
    environment = take_fonts(tmp_path, [*folders, CJK_FONTS])
    run = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=120)

    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert {name: told[name]["flaw"] for name in told if told[name]["flaw"]} == {}
    assert {name: told[name]["ligatures"] for name in told if told[name]["ligatures"]} == {}
    aimed = [told[name]["pages"] for name in told if name.split()[0] in pictures.WANTED]
    assert len(aimed) == len(pictures.WANTED) * 2 * len(STYLES) * len(PAPERS)
    assert set(aimed) == {1}


@needs_cjk
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("limits", "pages"), [(ONE_PAGE, 1), (TWO_PAGES, 2)], ids=["one page", "two pages"])
def test_a_japanese_resume_takes_the_pages_that_it_was_estimated_at(
    style: Style, limits: ResumeLimits, pages: int
) -> None:
    """Its signs are twice as wide as Latin ones; filled up to what the estimate allows, it must not run over."""
    line = "決済基盤の台帳を設計し、毎月三千八百万件の請求書を遅延なく処理する仕組みへ移行した。" * 2
    entries, document = 0, JAPANESE_RESUME
    while estimate_lines(grown := add_entry(document, line)) <= limits.lines:
        document, entries = grown, entries + 1
    assert entries >= 3

    assert render_resume(document, style=style).pages <= pages


def add_entry(document: ResumeDocument, line: str) -> ResumeDocument:
    entry = replace(document.experience[0], lines=write_lines(line, line))
    return replace(document, experience=(*document.experience, entry))


@pytest.mark.parametrize("style", STYLES)
def test_it_writes_a_letter_on_one_page_with_its_date_in_words(style: Style) -> None:
    pdf = render_letter(LETTER, style=style)

    assert pdf.pages == 1
    assert "November 29, 2026" in pdf.text
    assert pdf.text.rstrip().endswith("Kind regards,\nMara O’Connell")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("sentences", [9, 13])
def test_it_fits_letters_of_up_to_270_long_words(style: Style, paper: Paper, sentences: int) -> None:
    said = "Designed the double-entry ledger in Django and PostgreSQL that now settles thirty-eight million of invoices"
    lines = [f"{said} in quarter {number} without any gap." for number in range(sentences)]
    paragraphs = tuple(write_lines(*lines[start : start + 4]) for start in range(0, sentences, 4))

    assert render_letter(replace(LETTER, paragraphs=paragraphs), style=style, paper=paper).pages == 1


def test_it_links_exactly_where_the_candidate_said_and_nowhere_unsafe() -> None:
    unsafe = ContactLine("portfolio", "javascript:alert(1)")
    pdf = render_letter(replace(LETTER, contacts=(*LETTER.contacts, unsafe)))

    assert list_links(pdf.data) == [contact.href for contact in LETTER.contacts if contact.href]
    assert "portfolio" in pdf.text


def test_it_shows_markup_in_the_text_as_text() -> None:
    label = "</p><script>document.title = 1</script>{{ settings }} <b>C++</b> & Go"

    assert label in " ".join(render_resume(replace(SHORT_RESUME, label=label)).text.split())


def test_it_gives_the_same_bytes_again_and_after_a_restart_of_the_browser() -> None:
    first = render_resume(LONG_RESUME)
    second = render_resume(LONG_RESUME)
    render_thread.shutdown()

    assert first.sha256 == second.sha256 == render_resume(LONG_RESUME).sha256


def test_it_differs_by_nothing_but_the_date_when_one_is_given() -> None:
    monday, friday = (render_letter(LETTER, created=datetime(2026, 11, day, tzinfo=UTC)).data for day in (23, 27))

    assert monday != friday
    assert monday.replace(b"20261123", b"20261127") == friday


def test_it_describes_the_file_and_tells_nothing_of_the_machine() -> None:
    reader = PdfReader(BytesIO(render_resume(replace(SHORT_RESUME, language="en-GB")).data))

    assert reader.metadata == {
        "/Title": "Mara O’Connell – Staff Backend Engineer",
        "/Author": "Mara O’Connell",
        "/Producer": "jobctrl",
        "/Creator": "jobctrl",
    }
    assert str(reader.root_object["/Lang"]) == "en-GB"


def test_it_tells_how_many_pages_too_many_there_are() -> None:
    with pytest.raises(TooLong) as resume:
        render_resume(replace(LONG_RESUME, experience=LONG_RESUME.experience * 5))
    with pytest.raises(TooLong) as letter:
        render_letter(replace(LETTER, paragraphs=LETTER.paragraphs * 6))

    assert (resume.value.pages, resume.value.limit, resume.value.retryable) == (4, 2, False)
    assert (letter.value.pages, letter.value.limit) == (2, 1)


@pytest.mark.parametrize("style", STYLES)
def test_it_ends_a_page_between_jobs_that_say_nothing(style: Style) -> None:
    jobs = tuple(write_entry(f"Engineer {n}", f"Employer {n}", "Cork", f"{2025 - n}") for n in range(30))

    pdf = render_resume(replace(LONG_RESUME, experience=jobs), style=style)

    pages = [page.extract_text() for page in PdfReader(BytesIO(pdf.data)).pages]
    assert len(pages) == 2
    assert "Engineer 0, Employer 0, Cork 2025" in pages[0]
    assert "Engineer 29, Employer 29, Cork 1996" in "\n".join(pages)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("paper", PAPERS)
def test_it_splits_a_job_of_many_lines_rather_than_leave_a_hole(style: Style, paper: Paper) -> None:
    lines = [f"Rebuilt part {n} of the settlement ledger without a lost posting" for n in range(24)]
    long = write_entry("Founder", "Kestrel", "Cork", "2010 – 2026", *lines)
    pdf = render_resume(replace(LONG_RESUME, experience=(*LONG_RESUME.experience[:3], long)), style=style, paper=paper)

    first, second = (page.extract_text() for page in PdfReader(BytesIO(pdf.data)).pages)
    assert lines[1] in first
    assert lines[-2] in second


def test_it_sets_schools_certificates_and_languages_on_one_line_each() -> None:
    spoken = (write_entry("German", "Native speaker", "", ""), write_entry("Irish", "", "", ""))
    text = render_resume(replace(LONG_RESUME, awards=LONG_RESUME.credentials[1:], languages=spoken)).text

    lines = text.splitlines()
    assert "B.Sc. Mathematical Sciences, University College Cork, Ireland 2006 – 2010" in lines
    assert "AWS Certified Solutions Architect – Professional, Amazon Web Services 2022" in lines
    assert lines[lines.index("Languages") + 1] == "German: Native speaker · Irish"
    assert lines.index("Certifications") < lines.index("Awards and publications") < lines.index("Languages")


def test_it_never_splits_an_entry_over_two_pages() -> None:
    pages = [page.extract_text() for page in PdfReader(BytesIO(render_resume(LONG_RESUME).data)).pages]

    for entry in (*LONG_RESUME.experience, *LONG_RESUME.projects, *LONG_RESUME.education):
        holding = [index for index, text in enumerate(pages) if entry.title in text]
        assert all(line.text[:12] in pages[holding[0]].replace("\n", " ") for line in entry.lines)


def take_fonts(folder: Path, fonts: list[Path]) -> dict[str, str]:
    """The environment of a process that has these alone; fonts are found once a process."""
    config = folder / "fonts.conf"
    folders = "".join(f"<dir>{path}</dir>" for path in fonts)
    config.write_text(FONTS.format(folders=folders, cache=folder / "cache"))
    return os.environ | {"FONTCONFIG_FILE": str(config), "DJANGO_SETTINGS_MODULE": "jobctrl.settings"}


def render_with_latin_fonts_only(folder: Path, document: ResumeDocument, *, trust_fonts: bool) -> dict[str, str]:
    program = (
        "import json, sys, django\n"
        "django.setup()\n"
        "from materials.rendering import documents\n"
        "from materials.rendering.failures import RenderFailed\n"
        "from tests.materials.written_documents import SHORT_RESUME\n"
        "from dataclasses import replace\n"
        "if sys.argv[2] == 'True':\n    documents.find_cjk_font = lambda: True\n"
        "try:\n    documents.render_resume(replace(SHORT_RESUME, name=sys.argv[1]))\n"
        "except RenderFailed as error:\n"
        "    print(json.dumps({'code': error.code, 'error': error.error_code, 'message': str(error)}))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, document.name, str(trust_fonts)],
        cwd=REPOSITORY,
        env=take_fonts(folder, LATIN_FONTS),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    answer: dict[str, str] = json.loads(run.stdout)
    return answer


@pytest.mark.skipif(not LATIN_FONTS, reason="needs fonts-liberation or fonts-dejavu")
@pytest.mark.parametrize(
    ("name", "trust_fonts", "named"),
    [
        ("山田 太郎", False, "fonts-noto-cjk"),
        ("山田 太郎", True, "山田太郎 Install a Chinese, Japanese and Korean font"),
        ("สมชาย", True, "ส"),
    ],
)
def test_it_refuses_letters_that_no_installed_font_has(
    tmp_path: Path, name: str, trust_fonts: bool, named: str
) -> None:
    answer = render_with_latin_fonts_only(tmp_path, replace(SHORT_RESUME, name=name), trust_fonts=trust_fonts)

    assert (answer["code"], answer["error"]) == ("font_missing", "configuration")
    assert named in answer["message"]


def test_it_refuses_a_pdf_that_lacks_a_line() -> None:
    pdf = render_letter(LETTER)

    with pytest.raises(RenderFailed, match="lacks this line: I was never there"):
        verify_text_layer(pdf.data, expected=[*expected_text(LETTER), "I was never there."])


@pytest.mark.parametrize("document", [replace(SHORT_RESUME, summary=write_lines("ﬁne ﬂow\u00ad er\u200b")), LETTER])
def test_it_prints_pasted_ligatures_as_letters(document: ResumeDocument | LetterDocument) -> None:
    pdf = render_resume(document) if isinstance(document, ResumeDocument) else render_letter(document)

    assert not any(0xFB00 <= ord(char) <= 0xFB06 or char in "\u00ad\u200b" for char in pdf.text)


@needs_cjk
def test_five_documents_can_be_looked_at_with_what_a_machine_reads_of_them(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.materials.pictures", str(tmp_path)]
    run = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=120)

    shown = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len({name.rpartition("-")[0] for name in shown}) == 5
    assert all(data.startswith(b"\x89PNG") and len(data) > 20_000 for data in shown.values())
    assert "Dear Hiring Team at 株式会社ミナトテック," in run.stdout.splitlines()
    assert "German: Native speaker · English: Fluent" in run.stdout
