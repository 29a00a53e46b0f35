from hypothesis import given
from hypothesis import strategies as st

from discovery.text import HTML_LIMIT, clean_line, clean_text, decode_once, html_to_text


def test_it_decodes_an_escaped_document_once() -> None:
    assert html_to_text("&lt;p&gt;Pay &amp;gt; 100k&lt;/p&gt;") == "Pay > 100k"


def test_it_never_decodes_twice() -> None:
    assert html_to_text("<p>write &amp;lt;b&amp;gt;</p>") == "write &lt;b&gt;"
    assert decode_once("&amp;gt;") == "&gt;"


def test_a_title_is_decoded_folded_and_free_of_unseen_characters() -> None:
    assert clean_line(" R&amp;D\u00a0\n Engineer\u200b\x00 ") == "R&D Engineer"


def test_paragraphs_and_items_stand_on_lines() -> None:
    document = (
        "<h3>Role</h3><p>One&nbsp;two<br>three</p><ul>\n<li><p>first</p></li>\n<li></li><li>second<ul><li>inner</li></ul></li>"
        "</ul><script>alert(1)</script><style>p{}</style><p></p><div>tail</div>"
    )
    assert html_to_text(document) == "Role\n\nOne two\nthree\n\n- first\n- second\n- inner\n\ntail"


def test_a_comparison_is_not_a_tag() -> None:
    assert html_to_text("a < b and c > d") == "a < b and c > d"


def test_control_characters_and_lone_surrogates_are_gone() -> None:
    text = html_to_text("<p>a\ud800b\x00c&#2;d</p>")
    assert text == "abcd"
    assert clean_text("a\r\n\r\n\r\n\r\nb\x07\u202e") == "a\n\nb"


def test_a_hostile_document_is_read_in_bounded_time_and_size() -> None:
    assert "deep" in html_to_text("<div>" * 100_000 + "deep")
    assert "deep" in html_to_text("<div></x>" * 100_000 + "deep")
    assert html_to_text("<p></p>" * 100_000 + "<p>end") == "end"
    assert html_to_text("<li></li>" * 100_000 + "<p>end") == "end"
    assert len(html_to_text("x" * (HTML_LIMIT + 100))) == HTML_LIMIT


@given(st.text(max_size=400))
def test_any_text_gives_text_that_can_be_stored(document: str) -> None:
    for text in (html_to_text(document), html_to_text(f"<p>{document}</p>"), clean_line(document)):
        text.encode()
        assert "\x00" not in text
        assert "\n\n\n" not in text
