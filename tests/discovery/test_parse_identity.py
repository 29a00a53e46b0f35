import pytest
from hypothesis import given
from hypothesis import strategies as st

from discovery.identity import company_key, description_hash, is_same_key, normalise_url, title_key, token_jaccard


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (
            "HTTPS://Acme.Example.com:443/jobs?gh_jid=1&utm_source=x&gh_src=2#app",
            "https://acme.example.com/jobs?gh_jid=1",
        ),
        ("https://a.example/item?id=7", "https://a.example/item?id=7"),
        ("https://a.example/j?b=2&a=1&lever-source=x&ref=y&source=z", "https://a.example/j?a=1&b=2"),
        ("https://a.example", "https://a.example/"),
        ("http://bücher.example/ä b", "http://xn--bcher-kva.example/%C3%A4%20b"),
        ("https://[::1]:8443/x", "https://[::1]:8443/x"),
    ],
)
def test_a_locator_has_one_spelling(url: str, expected: str) -> None:
    assert normalise_url(url) == expected
    assert normalise_url(expected) == expected


def test_identity_keys_keep_addresses_apart() -> None:
    assert normalise_url("https://a.example/jobs?gh_jid=1") != normalise_url("https://a.example/jobs?gh_jid=2")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://a.example/x", "not http"),
        ("javascript:alert(1)", "not http"),
        ("/relative", "not http"),
        ("https://u:p@a.example/", "user name"),
        ("https://a.example/\x00", "control characters"),
        ("https://a.example\\@b.example", "backslashes"),
        ("https:///x", "no host"),
        ("https://a b.example/", "no valid host"),
        ("https://a.example:99999/", "cannot be read"),
        ("https://a.example/" + "x" * 2000, "too long"),
    ],
)
def test_it_refuses_what_is_no_plain_address(url: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        normalise_url(url)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Acme, Inc.", "ACME"),
        ("Acme GmbH & Co. KG", "acme"),
        ("Avast s.r.o.", "Avast"),
        ("Café Ltd.", "CAFÉ"),
        ("株式会社アクメ", "アクメ"),
    ],
)
def test_legal_forms_do_not_matter(one: str, other: str) -> None:
    assert is_same_key(company_key(one), company_key(other))


def test_names_of_every_script_survive_and_differ() -> None:
    keys = {company_key(name) for name in ("株式会社アクメ", "ООО Ромашка", "हिन्दी कंपनी", "شركة أكمي")}
    assert len(keys) == 4 and "" not in keys
    assert company_key("Inc") == "inc"


def test_an_empty_key_matches_nothing() -> None:
    assert company_key("!!!") == ""
    assert not is_same_key("", "")


def test_titles_keep_what_tells_languages_apart() -> None:
    assert len({title_key(title) for title in ("C Developer", "C++ Developer", "C# Developer")}) == 3
    assert title_key("Senior  Engineer (R&D)") == title_key("senior engineer – R&D")
    assert "software engineer" in title_key("MTS - Software Engineer")


def test_equal_words_hash_equal_and_no_words_hash_to_nothing() -> None:
    assert description_hash("We build\n\n- bridges.") == description_hash("we BUILD bridges")
    assert len(description_hash("x")) == 64
    assert description_hash(" \n") == ""


def test_jaccard_is_the_share_of_common_words() -> None:
    assert token_jaccard("a b c d", "a b c e") == pytest.approx(3 / 5)
    assert token_jaccard("", "") == 0.0
    assert token_jaccard("東京で働くエンジニア", "東京で働くエンジニア募集") > 0.7


@given(st.text(max_size=200))
def test_any_address_is_spelled_or_refused(url: str) -> None:
    try:
        once = normalise_url(f"https://a.example/{url}")
    except ValueError:
        return
    assert normalise_url(once) == once
