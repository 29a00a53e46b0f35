"""Rows of the specification's table "Salary text", and what else boards were seen to write."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discovery.contracts import PayPeriod, Salary
from discovery.salary import YEARLY_HOURS, find_salary, parse_salary, yearly_equivalent

YEAR, MONTH, DAY, HOUR, UNKNOWN = PayPeriod.YEAR, PayPeriod.MONTH, PayPeriod.DAY, PayPeriod.HOUR, PayPeriod.UNKNOWN


def pay(low: str | None, high: str | None, currency: str, period: PayPeriod, note: str = "") -> Salary:
    return Salary(Decimal(low) if low else None, Decimal(high) if high else None, currency, period, note)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$123,000—$254,000 USD", pay("123000", "254000", "USD", YEAR)),
        ("Annual Salary Range: $165,000 - $190,000", pay("165000", "190000", "USD", YEAR)),
        ("$204.4K – $352K • Offers Equity", pay("204400", "352000", "USD", YEAR)),
        ("$50/hourly", pay("50", "50", "USD", HOUR)),
        ("PKR 150,000 per month", pay("150000", "150000", "PKR", MONTH)),
        ("$40/hr", pay("40", "40", "USD", HOUR)),
        ("Base $140k-$160k. $1,000 home office stipend. 401k match.", pay("140000", "160000", "USD", YEAR)),
        ("£28,000 pro rata (0.6 FTE)", pay("28000", "28000", "GBP", YEAR, "pro rata, 0.6 FTE")),
    ],
)
def test_it_reads_every_row_of_the_table(text: str, expected: Salary) -> None:
    assert parse_salary(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CA$102.8K – CA$137K", pay("102800", "137000", "CAD", YEAR)),
        ("$30 - $38 per hour • Offers Equity", pay("30", "38", "USD", HOUR)),
        ("€60-70K", pay("60000", "70000", "EUR", YEAR)),
        ("80.000 € - 95.000 € brutto/Jahr", pay("80000", "95000", "EUR", YEAR)),
        ("90 000 – 120 000 Kč měsíčně", pay("90000", "120000", "CZK", MONTH)),
        ("CZK 95,000 - 125,000", pay("95000", "125000", "CZK", UNKNOWN)),
        ("年収 800万円〜1,200万円", pay("8000000", "12000000", "JPY", YEAR)),
        ("₹12-18 LPA", pay("1200000", "1800000", "INR", YEAR)),
        ("up to £65,000 per annum", pay(None, "65000", "GBP", YEAR)),
        ("from $22.50 per hour", pay("22.50", None, "USD", HOUR)),
        ("$900 per day", pay("900", "900", "USD", DAY)),
        ("$13.79-16 USD Per Hour", pay("13.79", "16", "USD", HOUR)),
        ("CHF 110'000 – 130'000", pay("110000", "130000", "CHF", YEAR)),
        ("$30 - $38", pay("30", "38", "USD", UNKNOWN)),
        ("Competitive pay (£35k - £60k) - equity / stock options", pay("35000", "60000", "GBP", YEAR)),
        ("$100,000 CAD", pay("100000", "100000", "CAD", UNKNOWN)),
        ("Salary: 70000-90000", pay("70000", "90000", "", UNKNOWN)),
    ],
)
def test_it_keeps_currency_and_takes_the_period_from_words(text: str, expected: Salary) -> None:
    assert parse_salary(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "$",
        "competitive",
        "401k",
        "401(k) match up to 4%",
        "$20M raised",
        "$1,000 stipend",
        "$1,000 - $2,000 stipend",
        "5-8 years experience",
    ],
)
def test_it_states_no_pay_where_there_is_none(text: str) -> None:
    assert parse_salary(text) is None


def test_a_hint_settles_a_bare_dollar_but_never_a_named_currency() -> None:
    hinted = parse_salary("$100,000-$120,000", currency_hint="CAD")
    named = parse_salary("US$100,000-US$120,000", currency_hint="CAD")
    assert hinted is not None and hinted.currency == "CAD"
    assert named is not None and named.currency == "USD"


def test_hours_are_made_years_by_one_factor_only() -> None:
    by_slash, by_word = parse_salary("$40/hr"), parse_salary("$40 per hour")
    assert by_slash is not None and by_word is not None
    assert yearly_equivalent(by_slash) == yearly_equivalent(by_word) == (Decimal(40 * YEARLY_HOURS),) * 2
    assert yearly_equivalent(pay("1000", None, "CZK", MONTH)) == (Decimal(12000), None)
    assert yearly_equivalent(pay("100", "100", "USD", UNKNOWN)) is None


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("The annual OTE for this role is $120,000 - $150,000 USD.", pay("120000", "150000", "USD", YEAR, "OTE")),
        ("US Salary Range\n\n$123,000—$254,000 USD", pay("123000", "254000", "USD", YEAR)),
        ("The base salary is €70,000 to €85,000 plus a bonus of €5,000.", pay("70000", "85000", "EUR", YEAR)),
        (
            "Fees paid, and £1,000 a year for courses.\nPay\n£28,000 pro rata (0.6 FTE), over three days",
            pay("28000", "28000", "GBP", YEAR, "pro rata, 0.6 FTE"),
        ),
        ("Nabízíme mzdu 75 000 – 105 000 Kč měsíčně.", pay("75000", "105000", "CZK", MONTH)),
        ("- €98,000 – €118,000 per year, and 30 days of holiday", pay("98000", "118000", "EUR", YEAR)),
    ],
)
def test_it_finds_the_pay_sentence_of_a_description(description: str, expected: Salary) -> None:
    assert find_salary("About us.\n\nWe raised $38M in a Series B.\n\n" + description) == expected


@pytest.mark.parametrize(
    "description",
    [
        "We raised $20M in Series B.",
        "You manage deals of $500,000 - $900,000.",
        "Benefits: 401k match and $1,000 stipend.",
        "Our revenue grew to $50,000,000.",
        "We process $150,000 - $300,000 of payments a day.",
        "Pay for performance: $500 referral bonus.",
        "Equal pay for 100 people.",
        "- $2,000 a year for learning",
    ],
)
def test_it_would_rather_find_nothing_than_guess(description: str) -> None:
    assert find_salary(description) is None


@given(st.text(alphabet="0123456789$€£kK.,-–— /hryearpemonth()+\n", max_size=300))
def test_it_never_fails_and_never_turns_a_range_around(text: str) -> None:
    for found in (parse_salary(text), find_salary(text)):
        if found is not None and found.minimum is not None and found.maximum is not None:
            assert 0 < found.minimum <= found.maximum
