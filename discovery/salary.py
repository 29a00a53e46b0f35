"""Pay as written in a posting. Nothing is converted; what the text does not say stays unknown."""

import re
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Final

from discovery.contracts import PayPeriod, Salary
from discovery.salary_words import (
    AMOUNT,
    CODES,
    DOLLARS,
    FROM,
    JOIN,
    NOT_PAY_AFTER,
    NOT_PAY_BEFORE,
    NOT_PAY_SCALE,
    NOTES,
    PAY_WORD,
    PERIODS,
    SENTENCE,
    SEPARATORS,
    SYMBOLS,
    UP_TO,
)

YEARLY_HOURS: Final = 2080  # 52 weeks of 40 hours: the only yearly factor in the project
_PER_YEAR: Final = {
    PayPeriod.YEAR: Decimal(1),
    PayPeriod.MONTH: Decimal(12),
    PayPeriod.WEEK: Decimal(52),
    PayPeriod.DAY: Decimal(YEARLY_HOURS) / 8,
    PayPeriod.HOUR: Decimal(YEARLY_HOURS),
}

# In these a range that starts at 20,000 can only be yearly pay. Elsewhere (CZK, JPY, INR, PKR..) it may be monthly.
_YEARLY_CURRENCIES: Final = frozenset({"USD", "EUR", "GBP", "CAD", "AUD", "NZD", "CHF"})
_YEARLY_FLOOR: Final = Decimal(20_000)
_CEILING: Final = Decimal(10) ** 10
_TEXT_LIMIT: Final = 2_000
_SENTENCE_LIMIT: Final = 600


@dataclass(frozen=True, slots=True)
class _Amount:
    value: Decimal
    scale: str
    unit: str  # "" where neither symbol nor code stands with it
    start: int
    end: int


def parse_salary(text: str, *, currency_hint: str = "") -> Salary | None:
    """The pay that a label or a sentence states, or ``None``.

    The period comes from words alone ("per hour", "annual", "pro rata"). One exception: a wordless range of yearly
    size in a currency where no shorter period could reach it is per year. Amounts of benefits are not pay.
    """
    text = text[:_TEXT_LIMIT]
    amounts = _read_amounts(text)
    benefits = {amount.start for amount in amounts if _is_benefit(text, amount)}
    for low, high in _pair_amounts(text, amounts):
        if low.start in benefits or high.start in benefits:
            benefits |= {low.start, high.start}
        elif low.unit or high.unit or PAY_WORD.search(text) or _find_period(text) is not None:
            return _build_range(text, low, high, currency_hint)
    for amount in amounts:
        if amount.start in benefits:
            continue
        if amount.unit or (PAY_WORD.search(text) and (amount.scale or amount.value >= 1000)):
            return _build_single(text, amount, currency_hint)
    return None


def find_salary(description: str) -> Salary | None:
    """The first pay sentence of a description, or ``None`` rather than a guess.

    A sentence counts where it names pay, or is nothing but a range, and its amount carries a currency.
    """
    heading = ""
    for sentence in SENTENCE.split(description):
        sentence = sentence.strip()
        if not sentence or len(sentence) > _SENTENCE_LIMIT:
            heading = ""
            continue
        if any(character.isdigit() for character in sentence) and _states_pay(sentence, heading):
            found = parse_salary(sentence if _find_period(sentence) else f"{sentence} {_period_of(heading)}")
            if found is not None and found.currency and _is_plausible(found):
                return found
        heading = sentence if len(sentence) < 80 else ""
    return None


def yearly_equivalent(salary: Salary) -> tuple[Decimal | None, Decimal | None] | None:
    """Both bounds per year, in the salary's own currency; ``None`` where the period is unknown."""
    factor = _PER_YEAR.get(salary.period)
    if factor is None:
        return None
    return (
        salary.minimum * factor if salary.minimum is not None else None,
        salary.maximum * factor if salary.maximum is not None else None,
    )


def _read_amounts(text: str) -> list[_Amount]:
    amounts: list[_Amount] = []
    for match in AMOUNT.finditer(text):
        scale = (match["scale"] or "").casefold()
        value = _scale_number(match["number"], scale)
        if value is None or not 0 < value < _CEILING:
            continue
        before, after = (match["before"] or ""), (match["after"] or "")
        unit = _choose_unit(before, after)
        amounts.append(_Amount(value, scale, unit, match.start(), match.end()))
    return amounts


def _scale_number(number: str, scale: str) -> Decimal | None:
    grouped = re.sub(r"(?<=\d)[ '’\u00a0\u202f](?=\d{3})", "", number)
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", grouped):
        value: Decimal | None = Decimal(SEPARATORS.sub("", grouped))
    else:
        from price_parser.parser import parse_number

        value = parse_number(grouped)
    if value is None:
        return None
    return value * _scale_factor(scale)


def _scale_factor(scale: str) -> int:
    if scale == "k":
        return 1_000
    if scale.startswith(("lakh", "lac", "lpa")):
        return 100_000
    if scale.startswith("crore"):
        return 10_000_000
    if scale == "万":
        return 10_000
    return 1_000_000 if scale else 1


def _choose_unit(before: str, after: str) -> str:
    """A written code wins over a symbol, whichever side it stands on."""
    for written in (after, before):
        code = re.search(rf"\b(?:{CODES})\b", written, re.IGNORECASE)
        if code:
            return code[0].upper()
    return (before or after).strip().casefold()


def _is_benefit(text: str, amount: _Amount) -> bool:
    if NOT_PAY_SCALE.fullmatch(amount.scale):
        return True
    if text[amount.end : amount.end + 3].casefold() in ("(k)", "(b)") or amount.value == 401_000:
        return True
    before, after = text[max(0, amount.start - 60) : amount.start], text[amount.end : amount.end + 60]
    if after.startswith(("%", " %", "+ years", " years", "+ year", " hours", " days")):
        return True
    # What follows a connective ("$140k plus a $1,000 stipend") belongs to the next amount.
    following = re.split(r"\b(?:plus|with|and)\b|[,+•)]| [-–—] ", after, maxsplit=1)[0]
    preceding = re.split(r"\b(?:salary|compensation|pay|base|plus|and)\b|[,•:]", before, flags=re.IGNORECASE)[-1]
    return NOT_PAY_AFTER.search(following) is not None or NOT_PAY_BEFORE.search(preceding) is not None


def _pair_amounts(text: str, amounts: list[_Amount]) -> list[tuple[_Amount, _Amount]]:
    pairs: list[tuple[_Amount, _Amount]] = []
    for low, high in pairwise(amounts):
        if not JOIN.fullmatch(text[low.end : high.start]):
            continue
        if high.scale and not low.scale and low.value < 1000:  # "$140-160k"
            low = _Amount(low.value * _scale_factor(high.scale), high.scale, low.unit, low.start, low.end)
        if low.value <= high.value and low.value * 20 >= high.value:
            pairs.append((low, high))
    return pairs


def _build_range(text: str, low: _Amount, high: _Amount, currency_hint: str) -> Salary:
    units = [unit for unit in (low.unit, high.unit) if unit]
    stated = next((unit for unit in units if unit.isupper()), units[0] if units else "")
    currency = _name_currency(stated, currency_hint)
    period = _nearest_period(text, low.start, high.end)
    if period is PayPeriod.UNKNOWN and currency in _YEARLY_CURRENCIES and low.value >= _YEARLY_FLOOR:
        period = PayPeriod.YEAR
    return Salary(low.value, high.value, currency, period, _read_note(text))


def _build_single(text: str, amount: _Amount, currency_hint: str) -> Salary:
    before = text[: amount.start]
    minimum: Decimal | None = amount.value
    maximum: Decimal | None = amount.value
    if UP_TO.search(before):
        minimum = None
    elif FROM.search(before) or text[amount.end :].lstrip().startswith("+"):
        maximum = None
    period = _nearest_period(text, amount.start, amount.end)
    return Salary(minimum, maximum, _name_currency(amount.unit, currency_hint), period, _read_note(text))


def _name_currency(unit: str, hint: str) -> str:
    hint = hint.strip().upper() if re.fullmatch(CODES, hint.strip().upper()) else ""
    if not unit:
        return hint
    if unit.isupper():
        return unit
    parts = unit.split()
    symbol = parts[0] if parts else ""
    if symbol in ("$", "dollars") and hint in DOLLARS:
        return hint
    if symbol in ("¥", "￥") and hint == "CNY":
        return hint
    if symbol in ("rs", "rs.") and hint in ("PKR", "LKR"):
        return hint
    return SYMBOLS.get(symbol, "") or hint


def _nearest_period(text: str, start: int, end: int) -> PayPeriod:
    """The period named right behind the amount, else anywhere in the text if only one is named."""
    behind = _find_period(re.split(r"[.;\n](?:\s|$)", text[end : end + 40], maxsplit=1)[0])
    if behind is not None:
        return behind
    within = _find_period(text[start:end])
    if within is not None:
        return within
    named = [period for period, words in PERIODS if words.search(text)]
    return named[0] if len(named) == 1 else PayPeriod.UNKNOWN


def _find_period(text: str) -> PayPeriod | None:
    hits = [(match.start(), period) for period, words in PERIODS if (match := words.search(text))]
    return min(hits)[1] if hits else None


def _period_of(heading: str) -> str:
    period = _find_period(heading)
    return f"per {period}" if period is not None else ""


def _read_note(text: str) -> str:
    seen: dict[str, str] = {}
    for match in NOTES.finditer(text):
        seen.setdefault(match[0].casefold(), match[0])
    return ", ".join(seen.values())[:80]


def _states_pay(sentence: str, heading: str) -> bool:
    if PAY_WORD.search(sentence) or PAY_WORD.fullmatch(heading.strip(":： ").rpartition("/ ")[2]):
        return True
    opening = AMOUNT.match(sentence.lstrip("-•* "))
    if opening and opening["before"] and _find_period(sentence) and _pair_amounts(sentence, _read_amounts(sentence)):
        return True  # "- €98,000 – €118,000 per year, and .."
    left = AMOUNT.sub("", sentence)
    for _, words in PERIODS:
        left = words.sub("", left)
    is_bare = len(re.sub(r"[\W_]", "", left)) <= 8
    return is_bare and (PAY_WORD.search(heading) is not None or len(_read_amounts(sentence)) == 2)


def _is_plausible(salary: Salary) -> bool:
    """A figure in running text is pay only where its period is known, or its size speaks for itself."""
    if salary.period is not PayPeriod.UNKNOWN:
        return True
    top = salary.maximum if salary.maximum is not None else salary.minimum
    return top is not None and top >= _YEARLY_FLOOR
