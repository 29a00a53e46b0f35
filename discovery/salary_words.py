"""The words and marks by which pay is told apart in a posting, in the languages met so far."""

import re
from typing import Final

from discovery.contracts import PayPeriod

CODES: Final = (
    "USD|EUR|GBP|CAD|AUD|NZD|SGD|HKD|CHF|JPY|CNY|INR|PKR|CZK|PLN|HUF|RON|BGN|SEK|NOK|DKK|ISK|BRL|MXN|ARS|CLP|COP|"
    "ILS|TRY|UAH|RUB|ZAR|NGN|KES|EGP|AED|SAR|QAR|KRW|TWD|THB|VND|IDR|MYR|PHP|BDT|LKR"
)
SYMBOLS: Final = {
    "us$": "USD", "ca$": "CAD", "c$": "CAD", "a$": "AUD", "au$": "AUD", "nz$": "NZD", "s$": "SGD", "hk$": "HKD",
    "r$": "BRL", "mx$": "MXN", "$": "USD", "£": "GBP", "€": "EUR", "¥": "JPY", "￥": "JPY", "円": "JPY", "₹": "INR",
    "rs": "INR", "rs.": "INR", "kč": "CZK", "zł": "PLN", "₩": "KRW", "₪": "ILS", "₺": "TRY", "₴": "UAH", "₽": "RUB",
    "euro": "EUR", "euros": "EUR", "dollars": "USD", "pounds": "GBP", "kr": "",
}  # fmt: skip
DOLLARS: Final = frozenset({"USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "ARS", "CLP", "COP", "TWD"})

_UNIT: Final = (
    rf"(?:US\$|CA\$|AU\$|NZ\$|HK\$|MX\$|[CASR]\$|[$£€¥￥円₹₩₪₺₴₽]|Kč|zł|\bRs\.?|\bkr\b|\beuros?\b|\bdollars\b|"
    rf"\bpounds\b|\b(?:{CODES})\b)"
)
_NUMBER: Final = r"\d{1,3}(?:[,.'’ \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d{1,10}(?:[.,]\d{1,2})?(?!\d)"
_SCALE: Final = r"(?:k(?!\w)|mn?\b|million\b|lakhs?\b|lacs?\b|lpa\b|crores?\b|万)"
AMOUNT: Final = re.compile(
    rf"(?P<before>{_UNIT}(?:\s?{_UNIT})?)?\s?(?<![\w.,])(?P<number>{_NUMBER})\s?(?P<scale>{_SCALE})?(?:\.\d\d)?"
    rf"\s?(?P<after>{_UNIT})?",
    re.IGNORECASE,
)
JOIN: Final = re.compile(
    r"\s*(?:/\s*(?:hr|hour|h|year|yr|month|mo|day|week)\b\.?|per (?:hour|year|month|day|week|annum))?"
    r"\s*(?:-|–|—|−|‐|‑|―|~|〜|～|\bto\b|\band\b|\bbis\b|\baž\b|\bà\b)\s*",
    re.IGNORECASE,
)

PERIODS: Final[tuple[tuple[PayPeriod, re.Pattern[str]], ...]] = tuple(
    (period, re.compile(words, re.IGNORECASE))
    for period, words in (
        (
            PayPeriod.HOUR,
            r"\bhourly\b|(?:\bper|\ban|\beach|/)\s*(?:hour|hr|h)\b|\bp/h\b|\bph\b|stundenlohn|(?:pro|je|/)\s*stunde|"
            r"hodinov|za hodinu|/\s*hod\b|時給|時間給",
        ),
        (PayPeriod.DAY, r"\bdaily\b|(?:\bper|\ba|/)\s*day\b|\bday rate\b|\btagessatz|pro tag|denně|/\s*md\b|日給"),
        (PayPeriod.WEEK, r"\bweekly\b|(?:\bper|\ba|/)\s*(?:week|wk)\b|\bpw\b|pro woche|週給"),
        (
            PayPeriod.MONTH,
            r"\bmonthly\b|(?:\bper|\ba|/)\s*(?:month|mo|mth)\b|\bp\.?c?\.?m\b|pro monat|/\s*monat|monatlich|měsíčně|"
            r"za měsíc|/\s*měs|miesięcznie|par mois|al mes|月給|月額",
        ),
        (
            PayPeriod.YEAR,
            r"\bannual(?:ly|i[sz]ed)?\b|\byearly\b|(?:\bper|\ba|/)\s*(?:year|yr|annum)\b|\bp\.?a\b|\bpro[- ]rata\b|"
            r"\bFTE\b|\blpa\b|pro jahr|/\s*jahr|jährlich|jahresgehalt|brutto jahr|ročně|par an\b|年収|年俸|年額",
        ),
    )
)
NOTES: Final = re.compile(
    r"\b\d(?:[.,]\d+)?\s?FTE\b|\bpro[- ]rata\b|\bOTE\b|\bon[- ]target earnings\b|\b(?:before|plus) commission\b",
    re.IGNORECASE,
)
# Money that is not pay, by what stands right after or right before it.
NOT_PAY_AFTER: Final = re.compile(
    r"^[^.;\n$£€]{0,40}?\b(?:stipends?|bonus(?:es)?|allowances?|budgets?|reimburse\w*|credits?|vouchers?|perks?|match\w*|"
    r"contributions?|home[- ]office|funding|raised|in revenue|revenue|valuation|arr|quota|deals?|grants?|donat\w*|"
    r"customers?|users|transactions?|assets|in venture|series [a-e]|referral|sign[- ]on|equipment|learning|training|"
    r"stock|rsus?|equity award|savings?|courses|fees)\b",
    re.IGNORECASE,
)
NOT_PAY_BEFORE: Final = re.compile(
    r"\b(?:raised|funding|revenue|valuation|valued at|stipend|bonus|allowance|budget|reimburse\w*|quota|arr|grants?|"
    r"worth|sign[- ]on|deals?|manag\w+|processing|contribut\w+|saved?|401)\b[^.;\n]{0,30}$",
    re.IGNORECASE,
)
NOT_PAY_SCALE: Final = re.compile(r"m|mn|million", re.IGNORECASE)
PAY_WORD: Final = re.compile(
    r"\b(?:salar(?:y|ies)|compensation|base pay|base range|base|pay|pays|be paid|wages?|remuneration|earnings|"
    r"OTE|hourly rate|day rate|rate|gehalt|jahresgehalt|vergütung|mzd[ayu]|plat|rémunération|salaire)\b|"
    r"年収|年俸|月給|時給|給与",
    re.IGNORECASE,
)
UP_TO: Final = re.compile(r"(?:\bup to|\bbis zu|\bmaximum(?: of)?|\bmax\.?|\baž)\s*$", re.IGNORECASE)
FROM: Final = re.compile(
    r"(?:\bfrom|\bstarting (?:at|from)|\bstarts at|\bat least|\bab|\bminimum(?: of)?|\bod)\s*$", re.IGNORECASE
)
SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+(?=[^\d\s])|\n+|(?<=。)")
SEPARATORS: Final = re.compile(r"[\s,.'’]")
