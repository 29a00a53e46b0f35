from dataclasses import replace

import pytest

from materials.contracts import ResumeEntry
from materials.rendering.characters import find_meant
from materials.rendering.failures import Flaw, TextLayerMismatch, TooLong
from materials.rendering.normalise import mend_unicode_map
from materials.rendering.pdf_reading import PdfReading
from materials.rendering.text_layer import expected_text, verify_drawing, verify_reading, verify_text
from materials.rendering.wording import choose_cjk_region, clean_text, format_letter_date, join_sentences
from tests.materials.written_documents import JAPANESE_RESUME, LETTER, LONG_RESUME, SHORT_RESUME

WRITTEN = ["Mara O’Connell", "efficient office workflow", "full-stack tracking of 40 ms", "Ended in Cork"]


@pytest.mark.parametrize(
    "read",
    [
        "Mara O’Connell\nefficient office workflow\nfull-stack tracking of 40 ms\nEnded in Cork",
        "Mara O’Connell  efficient office\nworkflow full-\nstack tracking of 40\u00a0ms 2 / 2 Ended in Cork",
        "Mara O’Connell · efficient office workflow\nunasked words\nfull-stack tracking of 40 ms Ended in\nCork",
    ],
)
def test_it_accepts_other_line_breaks_and_text_between_the_lines(read: str) -> None:
    verify_text(read, expected=WRITTEN)


@pytest.mark.parametrize(
    ("read", "flaw", "named"),
    [
        ("Mara O’Connell\nefficient office workflow\nEnded in Cork", Flaw.MISSING, "full-stack tracking of 40 ms"),
        (
            "efficient office workflow\nMara O’Connell\nfull-stack tracking of 40 ms\nEnded in Cork",
            Flaw.OUT_OF_ORDER,
            "efficient office workflow",
        ),
        (
            "Mara O’Connell\nefficientoffice workflow\nfull-stack tracking of 40 ms\nEnded in Cork",
            Flaw.WORDS_JOINED,
            "efficient office workflow",
        ),
        (
            "Mara O’Connell\neffi cient office workflow\nfull-stack tracking of 40 ms\nEnded in Cork",
            Flaw.WORD_BROKEN,
            "efficient office workflow",
        ),
        ("Mara O’Connell\ne\ufb03cient office workflow", Flaw.LIGATURE, r"U\+FB03"),
        ("Mara O’Connell\ne\uf001cient office workflow", Flaw.PRIVATE_USE, r"U\+F001"),
        ("Mara O’Connell\ne\ufffdcient office workflow", Flaw.PRIVATE_USE, r"U\+FFFD"),
        ("Mara O’Connell\n\x00\x00 office workflow", Flaw.MISSING_GLYPH, "No installed font"),
    ],
)
def test_it_names_the_flaw_and_where_it_is(read: str, flaw: Flaw, named: str) -> None:
    with pytest.raises(TextLayerMismatch, match=named) as mismatch:
        verify_text(read, expected=WRITTEN)

    assert mismatch.value.flaw is flaw
    assert not mismatch.value.retryable


MINATO = "I apply to 株式会社ミナトテック, whose ferries (東京) I know; 100 % of them."


@pytest.mark.parametrize(
    ("read", "flaw", "named"),
    [
        (MINATO.replace("ック,", "ック ,"), Flaw.WORD_BROKEN, r"ク ,"),
        (MINATO.replace("to 株", "to株"), Flaw.WORDS_JOINED, "o株"),
        (MINATO.replace("会社", "会 社"), Flaw.WORD_BROKEN, "会 社"),
        (MINATO.replace("(東", "( 東"), Flaw.WORD_BROKEN, r"\( 東"),
        (MINATO.replace("ferries (", "ferries("), Flaw.WORDS_JOINED, r"s\("),
        (MINATO.replace("; 100", ";100"), Flaw.WORDS_JOINED, ";1"),
        (MINATO.replace("0 %", "0%"), Flaw.WORDS_JOINED, "0%"),
        (MINATO.replace("株式会社", "株式\n会社").replace("ック, ", "ック,\n"), None, ""),
    ],
)
def test_it_judges_every_space_that_is_drawn(read: str, flaw: Flaw | None, named: str) -> None:
    if flaw is None:
        verify_drawing(read, expected=[MINATO])
        return
    with pytest.raises(TextLayerMismatch, match=named) as mismatch:
        verify_drawing(read, expected=[MINATO])
    assert mismatch.value.flaw is flaw


def test_what_is_drawn_and_what_is_read_must_both_be_what_was_written() -> None:
    rough = MINATO.replace("ック,", "ック ,").replace("(", " (")  # a reader's estimates
    verify_reading(PdfReading(pages=1, text=rough, drawn=MINATO, loose_fonts=()), expected=[MINATO])
    for read, drawn in ((rough, rough), (MINATO.replace("whose", "who se"), MINATO), (rough, "\0"), (MINATO, "")):
        with pytest.raises(TextLayerMismatch):
            verify_reading(PdfReading(pages=1, text=read, drawn=drawn, loose_fonts=()), expected=[MINATO])


def test_a_word_that_is_broken_at_the_end_of_a_line_is_broken() -> None:
    verify_text("pay\nments", expected=["payments"])
    for verify in (verify_text, verify_drawing):
        with pytest.raises(TextLayerMismatch, match="y m"):
            verify("pay \nments", expected=["payments"])


def test_a_gap_that_a_reader_guesses_where_the_font_changes_breaks_no_word() -> None:
    verify_text("Nguy ễn cut CO 2", expected=["Nguyễn cut CO₂"])
    with pytest.raises(TextLayerMismatch, match="y ễ"):
        verify_drawing("Nguy ễn cut CO₂", expected=["Nguyễn cut CO₂"])


def test_it_names_the_line_that_is_flawed_though_its_words_come_again() -> None:
    lines = ["Anna Adams", "UK", "I, Anna Adams, applied"]
    with pytest.raises(TextLayerMismatch, match="aA") as mismatch:
        verify_text("AnnaAdams\nUK\nI, Anna Adams, applied", expected=lines)
    assert mismatch.value.flaw is Flaw.WORDS_JOINED


def test_a_line_from_right_to_left_spares_none_of_the_others() -> None:
    expected = ["Languages", "עברית: Native", "I apply to 神戸, too"]
    verify_drawing("Languages\nNative :תירבע\nI apply to 神戸, too", expected=expected)
    with pytest.raises(TextLayerMismatch, match="戸 ,"):
        verify_drawing("Languages\nNative :תירבע\nI apply to 神戸 , too", expected=expected)


def test_it_refuses_a_font_that_is_named_and_not_carried() -> None:
    with pytest.raises(TextLayerMismatch, match="Helvetica is not in the file"):
        verify_reading(PdfReading(pages=1, text="x", drawn="x", loose_fonts=("/Helvetica",)), expected=["x"])


def test_it_counts_the_pages_before_it_reads_them() -> None:
    with pytest.raises(TooLong, match="takes 3 pages and may take 2"):
        verify_reading(PdfReading(pages=3, text="", drawn="", loose_fonts=()), expected=WRITTEN, page_limit=2)


def test_it_expects_a_resume_in_the_order_of_the_page() -> None:
    lines = expected_text(SHORT_RESUME)

    assert lines[:3] == ["Mara O’Connell", "Staff Backend Engineer", "Rotterdam, Netherlands"]
    assert "Languages: Python, Go, SQL, TypeScript, C++ (reading)" in lines
    start = lines.index("Experience")
    assert lines[start + 1 : start + 5] == [
        "Staff Software Engineer",
        "March 2021 – present",
        "Northwind Payments B.V.",
        "Amsterdam",
    ]
    assert "Projects" not in lines
    assert expected_text(LONG_RESUME).count("Projects") == 1
    start = expected_text(LONG_RESUME).index("B.Sc. Mathematical Sciences")
    assert expected_text(LONG_RESUME)[start + 1 : start + 4] == ["University College Cork", "Ireland", "2006 – 2010"]
    spoken = replace(SHORT_RESUME, languages=(ResumeEntry("l", "German", "Native speaker"), ResumeEntry("m", "Irish")))
    assert expected_text(spoken)[-2:] == ["Languages", "German: Native speaker · Irish"]
    assert "言語：Python、Go、日本語（母語）、英語（ビジネス）" in expected_text(JAPANESE_RESUME)


def test_it_expects_no_empty_lines_of_a_bare_letter() -> None:
    assert expected_text(replace(LETTER, date="", contacts=(), title="", paragraphs=(), closing=" ")) == [
        "Mara O’Connell",
        "Harbour Analytics",
        "Dear Ms Achterberg,",
        "Mara O’Connell",
    ]


@pytest.mark.parametrize(
    ("typed", "clean"),
    [
        ("ﬁne eﬃcient ﬂow", "fine efficient flow"),
        ("full\u2010stack, non\u2011stop", "full-stack, non-stop"),
        ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"),
        ("Zoe\u0308", "Zoë"),
        ("two\n lines\tand \x07 a bell", "two lines and a bell"),
        ("30\u00a0%", "30\u00a0%"),
        ("icon \uf0e0 here", "icon here"),
        ("$& {{COMPANY}}", "$& {{COMPANY}}"),
    ],
)
def test_it_cleans_what_does_not_print(typed: str, clean: str) -> None:
    assert clean_text(typed) == clean


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("en", "November 29, 2026"),
        ("en-GB", "29 November 2026"),
        ("de", "29. November 2026"),
        ("fr", "29 novembre 2026"),
        ("ja", "2026年11月29日"),
    ],
)
def test_it_writes_the_date_as_the_reader_does(language: str, shown: str) -> None:
    assert format_letter_date("2026-11-29", language=language) == shown


@pytest.mark.parametrize(
    ("text", "language", "region"),
    [
        ("王小明", "en", "sc"),
        ("王小明", "zh-TW", "tc"),
        ("山田 たろう", "en", "jp"),
        ("김민수", "en", "kr"),
        ("山田", "ja", "jp"),
    ],
)
def test_it_draws_ideographs_as_their_country_does(text: str, language: str, region: str) -> None:
    assert choose_cjk_region(text, language=language) == region


def test_it_puts_no_space_after_a_japanese_sentence() -> None:
    assert join_sentences(["従事。", "育成を担当。"]) == "従事。育成を担当。"
    assert join_sentences(["First.", "Second."]) == "First. Second."


@pytest.mark.parametrize(
    ("written", "source", "meant"),
    [
        ("⼭", "山田", "山"),
        ("⼾", "神戸", "戸"),
        ("⼾", "戶籍", "戶"),
        ("⻑", "長", "長"),
        ("·", "a·b・", "·"),
        ("x", "", "x"),
    ],
)
def test_it_picks_the_look_alike_that_the_document_has(written: str, source: str, meant: str) -> None:
    assert find_meant(written, source=set(source)) == meant


def test_it_mends_single_entries_and_ranges_of_a_font_map() -> None:
    cmap = (
        b"begincmap\n2 beginbfchar\n<0003> <0020>\n<0051> <2F2D>\nendbfchar\n"
        b"1 beginbfrange\n<0010> <0011> <2F42>\nendbfrange\nendcmap"
    )

    assert mend_unicode_map(cmap, known=set("山文斗 ")) == (
        b"begincmap\n2 beginbfchar\n<0003> <0020>\n<0051> <5C71>\nendbfchar\n"
        b"2 beginbfchar\n<0010> <6587>\n<0011> <6597>\nendbfchar\nendcmap"
    )
    assert mend_unicode_map(cmap, known=set("⼭⽂⽃ ")) == cmap
