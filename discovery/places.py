"""Places, work modes and remote eligibility out of what a location field says."""

import re
from dataclasses import dataclass
from typing import Final

from discovery.contracts import WorkMode

_NOT_REMOTE: Final = re.compile(r"\b(?:not|no|non)[\s-]remote\b", re.IGNORECASE)
_REMOTE: Final = (
    r"(?:100\s?%\s|fully[\s-]|full[\s-]|mostly\s|primarily\s)?(?:work from home|home[\s-]?office|home[\s-]?based|wfh|"
    r"telecommute|telework|distributed|remote(?:ly)?)(?:[\s-](?:friendly|first|only|ok|possible|eligible|optional|work|working|position|job|"
    r"role|option))?|リモート|フルリモート"
)
_HYBRID: Final = r"hybrid(?:[\s-](?:remote|work|working|role|office))?|partially remote|ハイブリッド"
_ONSITE: Final = r"on[\s-]?site(?:\s(?:only|role))?|in[\s-]?office|in[\s-]person|office[\s-]based"
_MODE: Final = re.compile(
    rf"(?<!\w)(?:(?P<hybrid>{_HYBRID})|(?P<onsite>{_ONSITE})|(?P<remote>{_REMOTE}))(?!\w)", re.IGNORECASE
)
_SPLIT: Final = re.compile(r"\s*(?:[|;•·\n]|\s/\s|\bor\b)\s*")
_TRIM: Final = " \t,-–—:/()[]（）|;.&"
_EDGE: Final = " \t,-–—:/|;&"
_LEAD: Final = re.compile(r"^(?:in|from|within|based in|anywhere in|for)\s+(?:the\s+)?", re.IGNORECASE)
_LOCATION_LIMIT: Final = 4_000

# Names that say who may apply rather than where a desk is, once the same text says "remote".
_REGIONS: Final = frozenset(
    "emea apac amer americas latam nordics europe eu eea dach benelux cee mena africa asia oceania anz global globally "
    "worldwide anywhere us usa uk uae north\u00a0america south\u00a0america latin\u00a0america middle\u00a0east "
    "european\u00a0union asia\u00a0pacific".replace("\u00a0", "_").split()
)
_COUNTRIES: Final = {
    "AE": "United Arab Emirates|UAE", "AR": "Argentina", "AT": "Austria|Österreich", "AU": "Australia",
    "BD": "Bangladesh", "BE": "Belgium", "BG": "Bulgaria", "BR": "Brazil|Brasil", "CA": "Canada",
    "CH": "Switzerland|Schweiz", "CL": "Chile", "CN": "China", "CO": "Colombia", "CR": "Costa Rica", "CY": "Cyprus",
    "CZ": "Czechia|Czech Republic|Česko", "DE": "Germany|Deutschland", "DK": "Denmark", "EE": "Estonia",
    "EG": "Egypt", "ES": "Spain|España", "FI": "Finland", "FR": "France",
    "GB": "United Kingdom|UK|Great Britain|England|Scotland|Wales|Northern Ireland", "GR": "Greece",
    "HK": "Hong Kong", "HR": "Croatia", "HU": "Hungary", "ID": "Indonesia", "IE": "Ireland", "IL": "Israel",
    "IM": "Isle of Man", "IN": "India", "IS": "Iceland", "IT": "Italy|Italia", "JM": "Jamaica", "JP": "Japan|日本",
    "KE": "Kenya", "KR": "South Korea|Korea|Republic of Korea", "LT": "Lithuania", "LU": "Luxembourg", "LV": "Latvia",
    "MA": "Morocco", "MT": "Malta", "MX": "Mexico|México", "MY": "Malaysia", "NG": "Nigeria",
    "NL": "Netherlands|The Netherlands", "NO": "Norway", "NZ": "New Zealand", "PE": "Peru", "PH": "Philippines",
    "PK": "Pakistan", "PL": "Poland|Polska", "PT": "Portugal", "QA": "Qatar", "RO": "Romania", "RS": "Serbia",
    "SA": "Saudi Arabia", "SE": "Sweden|Sverige", "SG": "Singapore", "SI": "Slovenia", "SK": "Slovakia",
    "SZ": "Eswatini", "TH": "Thailand", "TR": "Turkey|Türkiye", "TW": "Taiwan", "UA": "Ukraine",
    "US": "United States|USA|US|U.S.|United States of America|U.S.A.", "UY": "Uruguay", "VN": "Vietnam|Viet Nam",
    "ZA": "South Africa",
}  # fmt: skip
_CODE_BY_NAME: Final = {name.casefold(): code for code, names in _COUNTRIES.items() for name in names.split("|")}


@dataclass(frozen=True, slots=True)
class PlaceReading:
    """One location field. ``location`` is the place as written without the mode, ``places`` its parts.

    ``eligibility`` is the region a remote posting is open to as the source put it; "" is unknown, never "anywhere".
    """

    location: str = ""
    places: tuple[str, ...] = ()
    mode: WorkMode = WorkMode.UNKNOWN
    eligibility: str = ""


def split_mode(raw: str) -> tuple[str, WorkMode]:
    """The place without the work mode, and the mode: ``Bangalore, India - Remote`` -> that city, remote."""
    reading = read_place(raw)
    return reading.location, reading.mode


def read_place(raw: str) -> PlaceReading:
    """Read a location field that may list several places and may carry a work mode."""
    raw = " ".join(raw[:_LOCATION_LIMIT].split())
    places: dict[str, str] = {}
    eligible: dict[str, str] = {}
    modes: list[WorkMode] = []
    segments = [segment for segment in _SPLIT.split(raw) if segment.strip(_TRIM)]
    for segment in segments:
        place, mode, eligibility = _read_segment(segment)
        if mode is not WorkMode.UNKNOWN:
            modes.append(mode)
        if place:
            places.setdefault(place.casefold(), place)
        if eligibility:
            eligible.setdefault(eligibility.casefold(), eligibility)
    mode = _choose_mode(modes)
    location = raw if not modes else " | ".join(places.values())
    return PlaceReading(location, tuple(places.values()), mode, ", ".join(eligible.values()))


def read_workplace(value: str) -> WorkMode:
    """A board's own field: ``Remote``, ``OnSite``, ``on-site``, ``Hybrid``; anything else is unknown."""
    word = re.sub(r"[^a-z]", "", value.casefold())
    known = {"inoffice": WorkMode.ONSITE, **{mode.value: mode for mode in WorkMode}}
    return known.get(word, WorkMode.UNKNOWN)


def fill_from_offices(reading: PlaceReading, offices: tuple[str, ...]) -> PlaceReading:
    """Complete a location with the names of a posting's offices.

    An office is the place where the location field held only a mode ("Hybrid", office Austin). It never becomes the
    place of a remote posting. Offices that are themselves a mode ("Remote (US)") speak where the location does not.
    """
    readings = [read_place(office) for office in offices]
    mode, eligibility = reading.mode, reading.eligibility
    if mode is WorkMode.UNKNOWN and readings and all(office.mode is readings[0].mode for office in readings):
        mode = readings[0].mode
    if mode is WorkMode.REMOTE and not eligibility:
        eligibility = ", ".join(dict.fromkeys(office.eligibility for office in readings if office.eligibility))
    places = dict.fromkeys(reading.places)
    if mode is not WorkMode.REMOTE or reading.places:
        for place in (place for office in readings for place in office.places):
            if not any(_is_same_place(place, known) for known in places):
                places[place] = None
    location = reading.location or " | ".join(places)
    return PlaceReading(location, tuple(places), mode, eligibility)


def find_country_code(name: str) -> str:
    """ISO 3166 alpha-2 of a country's common name; "" where we do not know it. ``CA`` and ``DE`` may be states."""
    return _CODE_BY_NAME.get(name.strip().casefold(), "")


def is_region(text: str) -> bool:
    """A country or a region of the world, not a town."""
    return find_country_code(text) != "" or text.strip().casefold().replace(" ", "_") in _REGIONS


def _read_segment(segment: str) -> tuple[str, WorkMode, str]:
    denied = _NOT_REMOTE.search(segment)
    if denied:
        return _tidy(_cut(segment, denied.start(), denied.end())), WorkMode.ONSITE, ""
    match = _MODE.search(segment)
    if match is None:
        return _tidy(segment), WorkMode.UNKNOWN, ""
    before, rest = _tidy(segment[: match.start()]), segment
    while (found := _MODE.search(rest)) is not None:
        rest = _cut(rest, found.start(), found.end())
    rest = _tidy(_LEAD.sub("", _tidy(rest)))
    mode = WorkMode(str(match.lastgroup))
    if mode is not WorkMode.REMOTE or not rest:
        return rest, mode, ""
    if not before or is_region(rest):
        return "", mode, rest
    return rest, mode, ""


def _cut(text: str, start: int, end: int) -> str:
    left, right = text[:start].rstrip(" ([（-–—,:"), text[end:].lstrip(" )]）")
    if left and right and not right.startswith((",", ")")):
        return f"{left}, {right.lstrip(_TRIM)}" if right.strip(_TRIM) else left
    return f"{left}{right}"


def _tidy(text: str) -> str:
    text = text.strip(_EDGE)
    if text.startswith(("(", "[")) and text.endswith((")", "]")):
        text = text[1:-1]
    if text.startswith(("(", "[")) or (text.endswith((")", "]")) and not re.search(r"[(\[]", text)):
        text = text.strip("()[]")
    return text.strip(_EDGE)


def _choose_mode(modes: list[WorkMode]) -> WorkMode:
    """Of several stated modes the freest: a posting in three offices or remote can be done remotely."""
    for mode in (WorkMode.REMOTE, WorkMode.HYBRID, WorkMode.ONSITE):
        if mode in modes:
            return mode
    return WorkMode.UNKNOWN


def _is_same_place(one: str, other: str) -> bool:
    """Equal, or equal to the first part: ``London`` and ``London, UK``."""
    one, other = one.casefold(), other.casefold()
    return one == other or one == other.split(",")[0].strip() or other == one.split(",")[0].strip()
