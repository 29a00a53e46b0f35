"""Structured data in all the shapes that pages give it."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from discovery.contracts import ActiveState, ContentTier, PageContent, PayPeriod, Salary, WorkMode
from discovery.pages import extract_page

NOW = datetime(2026, 11, 29, tzinfo=UTC)
URL = "https://board.example.com/jobs/1"


def page_of(*scripts: str) -> str:
    tags = "".join(f'<script type="application/ld+json">{script}</script>' for script in scripts)
    return f"<html><head>{tags}</head><body></body></html>"


def extract(posting: dict[str, Any]) -> PageContent:
    html = page_of(json.dumps({"@context": "https://schema.org", "@type": "JobPosting", "title": "Dev", **posting}))
    return extract_page(html, url=URL, now=NOW)


@pytest.mark.parametrize(
    "scripts",
    [
        ("{bad", '{"@graph":[{"@type":["JobPosting"],"title":"Dev"}]}'),
        ('{"@type":"Organization","name":"Acme"}', '{"@type":"JobPosting","title":"Dev"}'),
        ('[{"@type":"WebSite"},{"@type":["Thing","JobPosting"],"title":"Dev"}]',),
        ('{"@type":"WebPage","mainEntity":{"@type":"JobPosting","title":"Dev"}}',),
        ('{"@type":"ItemList","itemListElement":[{"item":{"@type":"JobPosting","title":"Dev"}}]}',),
        ('{"@type":"http://schema.org/JobPosting","title":"Dev"}',),
        ('<!-- {"@type":"JobPosting","title":"Dev"} -->',),
        ('//<![CDATA[\n{"@type":"JobPosting","title":"Dev"}\n//]]>',),
        ('{"@type":"JobPosting","title":"Dev"};',),
        ('{"@type":"JobPosting","title":"Dev","description":"one\n\ttwo"}',),
        ("{&quot;@type&quot;:&quot;JobPosting&quot;,&quot;title&quot;:&quot;Dev&quot;}",),
        ('{"@type":"JobPosting","title":"Dev"}', '{"@type":"JobPosting","title":"Another"}'),
    ],
)
def test_it_finds_the_first_posting_wherever_it_stands(scripts: tuple[str, ...]) -> None:
    page = extract_page(page_of(*scripts), url=URL, now=NOW)

    assert (page.tier, page.title) == (ContentTier.JSON_LD, "Dev")


OTHERS = [
    {"@type": "ListItem", "item": {"@type": "JobPosting", "title": title, "url": f"/jobs/{title}"}} for title in "AB"
]


@pytest.mark.parametrize(
    ("data", "title"),
    [
        ([{"@type": "JobPosting", "title": "A", "url": "/jobs/2"}, {"@type": "JobPosting", "title": "Dev", "url": URL}], "Dev"),
        ([{"@type": "JobPosting", "title": "A"}, {"@type": "JobPosting", "title": "Dev", "@id": f"{URL}/#job"}], "Dev"),
        ([{"@type": "ItemList", "itemListElement": OTHERS}, {"@type": "JobPosting", "title": "Dev"}], "Dev"),
        ({"@type": "ItemList", "itemListElement": [*OTHERS, {"item": {"@type": "JobPosting", "title": "Dev", "url": f"{URL}?utm_source=x"}}]}, "Dev"),
        ({"@type": "JobPosting", "title": "Dev", "url": "https://elsewhere.example.com/apply"}, "Dev"),
        ([{"@type": "JobPosting", "title": "Dev", "url": "https://elsewhere.example.com/1"}, {"@type": "ItemList", "itemListElement": [{"item": {"@type": "JobPosting", "title": "A", "@id": f"{URL}#job-1"}}, *OTHERS]}], "Dev"),
        ([{"@type": "JobPosting", "title": "Dev", "@id": "#job"}, {"@type": "JobPosting", "title": "A", "url": "/jobs/2"}], "Dev"),
        ([{"@type": "JobPosting", "title": "A", "url": "/jobs/2"}, {"@type": "JobPosting", "title": "Dev", "@id": "#job"}], "Dev"),
    ],
    ids=["by its address", "by its id", "beside a list of others", "by its address in a list", "the only one", "before a list of fragments", "by a fragment first", "by a fragment"],
)  # fmt: skip
def test_it_takes_the_pages_own_posting_and_not_a_similar_one(data: object, title: str) -> None:
    page = extract_page(page_of(json.dumps(data)), url=URL, now=NOW)

    assert (page.tier, page.title) == (ContentTier.JSON_LD, title)


def test_a_list_of_other_postings_is_not_this_one() -> None:
    html = page_of(json.dumps({"@type": "ItemList", "itemListElement": OTHERS}))
    article = "<h1>Gardener</h1><p>" + "You look after the roses of a large park. " * 20 + "</p>"

    page = extract_page(html.replace("<body>", f"<body>{article}"), url=URL, now=NOW)

    assert (page.tier, page.title) == (ContentTier.READABLE_TEXT, "Gardener")


@pytest.mark.parametrize("kind", ["JobPostingList", "NotAJobPosting", "Organization"])
def test_it_takes_no_other_type_for_a_posting(kind: str) -> None:
    html = page_of(json.dumps({"@type": kind, "title": "Dev", "about": "JobPosting"}))

    assert extract_page(html, url=URL, now=NOW).tier is ContentTier.READABLE_TEXT


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("<p>Pay &gt; 100k</p>", "Pay > 100k"),
        ("&lt;p&gt;Pay &amp;gt; 100k&lt;/p&gt;", "Pay > 100k"),
        ("Intro &lt;br&gt;Then", "Intro\nThen"),
        ("Write &amp;lt;p&amp;gt; tags", "Write &lt;p&gt; tags"),
        ("One\\n\\nTwo", "One\n\nTwo"),
        ("<b>One</b>\\nTwo\\r\\nThree", "One\nTwo\nThree"),
        ("Files in C:\\new stay", "Files in C:\\new stay"),
        ("One\nTwo", "One\nTwo"),
        ("<ul><li>Plan</li><li>Build</li></ul>", "- Plan\n- Build"),
        (["<p>One</p>", "<p>Two</p>"], "One\n\nTwo"),
        (None, ""),
    ],
)
def test_it_turns_descriptions_into_text(written: object, read: str) -> None:
    assert extract({"description": written}).description == read


def test_it_decodes_names_once() -> None:
    page = extract({"title": "R&amp;D  Engineer", "hiringOrganization": {"name": "Smith &amp; Sons"}})

    assert (page.title, page.company) == ("R&D Engineer", "Smith & Sons")
    assert extract({"hiringOrganization": "Acme"}).company == "Acme"
    assert extract({"hiringOrganization": [{"legalName": "Acme Ltd"}]}).company == "Acme Ltd"


def test_it_borrows_the_page_text_where_the_description_is_missing() -> None:
    script = page_of('{"@type":"JobPosting","title":"Dev"}').replace("<body></body>", "")
    body = "<article>" + "<p>You will care for the trees and the roses of a large park.</p>" * 12 + "</article>"

    page = extract_page(script + body, url=URL, now=NOW)

    assert (page.tier, page.title) == (ContentTier.READABLE_TEXT, "Dev")
    assert "roses of a large park" in page.description
    assert page.warnings == ("DESCRIPTION_MISSING",)


def address(**parts: object) -> dict[str, object]:
    return {"@type": "Place", "address": {"@type": "PostalAddress", **parts}}


@pytest.mark.parametrize(
    ("location", "places", "mode"),
    [
        (None, (), WorkMode.UNKNOWN),
        (address(addressLocality="Austin", addressRegion="TX", addressCountry="US"), ("Austin, TX, US",), WorkMode.UNKNOWN),
        (address(addressLocality="Leipzig", addressRegion="-", addressCountry={"name": "DE"}), ("Leipzig, DE",), WorkMode.UNKNOWN),
        ([address(addressLocality="Austin"), address(addressLocality="Berlin"), address(addressLocality="Austin")], ("Austin", "Berlin"), WorkMode.UNKNOWN),
        ({"@type": "Place", "address": "Sacramento, CA"}, ("Sacramento, CA",), WorkMode.UNKNOWN),
        ({"@type": "Place", "name": "Head office, Graz"}, ("Head office, Graz",), WorkMode.UNKNOWN),
        ("Vienna", ("Vienna",), WorkMode.UNKNOWN),
        (address(addressLocality="Remote"), (), WorkMode.REMOTE),
        ([address(addressLocality="Hybrid"), address(addressLocality="Austin")], ("Austin",), WorkMode.HYBRID),
        (address(addressLocality="", addressCountry=None), (), WorkMode.UNKNOWN),
    ],
)  # fmt: skip
def test_it_reads_places(location: object, places: tuple[str, ...], mode: WorkMode) -> None:
    page = extract({"jobLocation": location})

    assert (page.places, page.location, page.mode) == (places, places[0] if places else "", mode)


@pytest.mark.parametrize(
    ("requirements", "eligibility"),
    [
        (None, ""),
        ({"@type": "Country", "name": "USA"}, "USA"),
        ([{"@type": "Country", "name": "Spain"}, {"@type": "Country", "name": "Portugal"}], "Spain, Portugal"),
        ("Europe", "Europe"),
        ({"@type": "Country"}, ""),
    ],
)
def test_it_takes_remote_eligibility_only_from_the_page(requirements: object, eligibility: str) -> None:
    page = extract({"jobLocationType": "TELECOMMUTE", "applicantLocationRequirements": requirements})

    assert (page.mode, page.remote_eligibility) == (WorkMode.REMOTE, eligibility)


def pay(value: object, **amount: object) -> dict[str, object]:
    return {"@type": "MonetaryAmount", "currency": "USD", "value": value, **amount}


@pytest.mark.parametrize(
    ("base", "salary"),
    [
        (pay({"minValue": 100, "maxValue": 120.5, "unitText": "HOUR"}), Salary(Decimal(100), Decimal("120.5"), "USD", PayPeriod.HOUR)),
        (pay({"value": "85,000", "unitText": "Year"}), Salary(Decimal(85000), Decimal(85000), "USD", PayPeriod.YEAR)),
        (pay({"value": 40, "unitText": "per hour"}), Salary(Decimal(40), Decimal(40), "USD", PayPeriod.HOUR)),
        (pay({"minValue": "5000.00", "unitText": "MONTH"}), Salary(Decimal(5000), None, "USD", PayPeriod.MONTH)),
        (pay({"minValue": 0, "maxValue": 90000, "unitCode": "ANN"}), Salary(None, Decimal(90000), "USD", PayPeriod.YEAR)),
        (pay({"minValue": 9, "maxValue": 5}), Salary(Decimal(5), Decimal(9), "USD", PayPeriod.UNKNOWN)),
        (pay(50000), Salary(Decimal(50000), Decimal(50000), "USD", PayPeriod.UNKNOWN)),
        ({"minValue": 1, "maxValue": 2, "currency": "pkr", "unitText": "WEEK"}, Salary(Decimal(1), Decimal(2), "PKR", PayPeriod.WEEK)),
        (70000, Salary(Decimal(70000), Decimal(70000), "EUR", PayPeriod.UNKNOWN)),
        ([pay({}), pay({"value": 1, "unitText": "DAY"})], Salary(Decimal(1), Decimal(1), "USD", PayPeriod.DAY)),
        (pay({"value": 1}, currency="Dollars"), Salary(Decimal(1), Decimal(1), "", PayPeriod.UNKNOWN)),
        (pay({"minValue": 0, "maxValue": 0}), None),
        ("$165,000 - $190,000 per year", Salary(Decimal(165000), Decimal(190000), "USD", PayPeriod.YEAR)),
        (pay({"value": "$40 - $50 per hour", "unitText": "HOUR"}), Salary(Decimal(40), Decimal(50), "USD", PayPeriod.HOUR)),
        (pay({"value": "competitive"}), None),
        (pay({"value": "Infinity"}), None),
        (pay({"value": -5}), None),
        (pay({"value": True}), None),
        (pay(None), None),
        ("negotiable", None),
        (None, None),
    ],
)  # fmt: skip
def test_it_reads_stated_pay(base: object, salary: Salary | None) -> None:
    assert extract({"baseSalary": base, "salaryCurrency": "EUR"}).salary == salary


def test_it_does_not_take_the_sites_estimate_for_pay() -> None:
    assert extract({"estimatedSalary": pay({"value": 1})}).salary is None


@pytest.mark.parametrize(
    ("posting", "apply_url"),
    [
        ({"url": "https://acme.example.com/jobs/7"}, "https://acme.example.com/jobs/7"),
        ({"url": "/jobs/7?x=1"}, "https://board.example.com/jobs/7?x=1"),
        ({"url": "http://Stealth co"}, ""),
        ({"url": "https://acme.example.com/"}, ""),
        ({"url": "https://me:pw@acme.example.com/jobs"}, ""),
        ({"url": "javascript:alert(1)"}, ""),
        ({"url": "http://localhost/jobs/7"}, ""),
        ({"url": "http://[::1/jobs"}, ""),
        ({"directApply": True}, URL),
        ({"directApply": False}, ""),
        (
            {"url": "https://a.example.com/jobs/7", "potentialAction": {"@type": "ApplyAction", "target": {"urlTemplate": "https://a.example.com/apply/7"}}},
            "https://a.example.com/apply/7",
        ),
        ({}, ""),
    ],
)  # fmt: skip
def test_it_takes_only_a_real_address_for_the_application_url(posting: dict[str, Any], apply_url: str) -> None:
    assert extract(posting).apply_url == apply_url


@pytest.mark.parametrize(
    ("valid_through", "active", "warnings"),
    [
        ("2020-01-01", ActiveState.CLOSED, ()),
        ("2000-12-31T23:59", ActiveState.CLOSED, ()),
        ("2999-01-01", ActiveState.ACTIVE, ()),
        ("2026-11-28T23:59:59Z", ActiveState.CLOSED, ()),
        ("2026-11-29T01:00:00+02:00", ActiveState.CLOSED, ()),
        ("2026-11-28T23:00:00-02:00", ActiveState.ACTIVE, ()),
        ("2026-11-19 20:28:32 UTC", ActiveState.CLOSED, ()),
        ("0001-01-01T00:00:00+00:00", ActiveState.ACTIVE, ("DATE_INVALID",)),
        ("1970-01-01", ActiveState.ACTIVE, ("DATE_INVALID",)),
        ("9999-12-31T23:59:59-05:00", ActiveState.ACTIVE, ("DATE_INVALID",)),
        ("soon", ActiveState.ACTIVE, ("DATE_INVALID",)),
        ("", ActiveState.ACTIVE, ()),
    ],
)
def test_it_closes_what_has_run_out(valid_through: str, active: ActiveState, warnings: tuple[str, ...]) -> None:
    page = extract({"validThrough": valid_through, "description": "Work."})

    assert (page.active, page.warnings) == (active, warnings)
    assert page.evidence == ("VALID_THROUGH_PAST" if active is ActiveState.CLOSED else "")


def test_it_believes_a_notice_over_an_end_date_in_the_future() -> None:
    script = page_of('{"@type":"JobPosting","title":"Dev","validThrough":"2999-01-01"}').replace("<body></body>", "")

    page = extract_page(script + "<body><p>This role is closed</p></body>", url=URL, now=NOW)

    assert (page.active, page.evidence) == (ActiveState.CLOSED, "NOTICE_CLOSED")
