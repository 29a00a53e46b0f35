"""Where a model's quotes stand in the posting that it quotes from."""

import pytest

from scoring.model.quotes import fold_text

TEXT = (
    "Backend Engineer\n\n"
    "You’ll need 5–7 years of  Python,\nand “strong” SQL — or R.\u00a0Rust is a plus… We use Go\u00adlang and C++.\n"
    "日本語での業務経験が必要です。"
)


@pytest.mark.parametrize(
    ("quote", "says"),
    [
        ("Backend Engineer", "Backend Engineer"),
        ("5–7 years of  Python", "5–7 years of  Python"),
        ("5-7 years of Python", "5–7 years of  Python"),
        ('5-7 years of Python, and "strong" SQL - or R', "5–7 years of  Python,\nand “strong” SQL — or R"),
        ("You'll need", "You’ll need"),
        ("- 5-7 years of Python", "5–7 years of  Python"),
        ("“Rust is a plus...”", "Rust is a plus…"),
        ("R", "R"),
        ("Golang", "Go\u00adlang"),
        ("C++", "C++"),
        ("業務経験が必要", "業務経験が必要"),
        ("of Python;", "of  Python"),
    ],
)
def test_it_finds_the_exact_span(quote: str, says: str) -> None:
    span = fold_text(TEXT).find(quote)

    assert span is not None
    assert TEXT[slice(*span)] == says


def test_it_prefers_whole_words() -> None:
    text = "JavaScript first. Java second."

    assert fold_text(text).find("Java") == (18, 22)


@pytest.mark.parametrize(
    "quote", ["", " ", "-", "...", "COBOL", "Ru", "5-7 years of Ruby", "need 5 years", "Engine", "\u200b"]
)
def test_it_finds_nothing_that_is_not_said(quote: str) -> None:
    assert fold_text(TEXT).find(quote) is None


def test_it_finds_every_word_of_a_text_where_it_stands() -> None:
    quoted = fold_text(TEXT)

    for start in range(len(TEXT)):
        for end in range(start + 1, min(start + 40, len(TEXT)) + 1):
            span = quoted.find(TEXT[start:end])
            if span is not None:
                assert 0 <= span[0] < span[1] <= len(TEXT)
                assert fold_text(TEXT[slice(*span)]).folded.strip(" .,;:-\"'") in fold_text(TEXT[start:end]).folded
