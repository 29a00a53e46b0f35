"""Characters that fonts draw with one glyph, so that a PDF's text layer may name the wrong one of them."""

import unicodedata
from collections.abc import Collection

# What Chromium writes -> what was meant. Found by printing every ideograph in the four regions of Noto Sans CJK and
# reading the text layer back; pairs that Unicode's compatibility mapping (NFKC) already joins are left out.
_PAIRS = (
    "⺂乛⺃乚⺅亻⺉刂⺎兀⺏尣⺐尢⺒巳⺓幺⺔彑⺕彐⺖忄⺘扌⺙攵⺛旡⺞歺⺠民⺡氵⺣灬⺤爫⺦丬⺨犭⺫罒⺭礻⺯糹⺰纟⺱罓⺹耂⺺肀⺾艹⺿艹⻂衤⻃覀⻄西"
    "⻅见⻆角⻈讠⻉贝⻋车⻌辶⻍辶⻎辶⻐钅⻑長⻒镸⻓长⻔门⻖阝⻘青⻙韦⻚页⻛风⻜飞⻝食⻟飠⻠饣⻢马⻣骨⻤鬼⻥鱼⻦鸟⻧卤⻨麦⻩黄⻪黾⻫斉"
    "⻬齐⻭歯⻮齿⻯竜⻰龙⻱龜⻲亀⻳龟"
    "‒–·・‧・‵｀∕／⼾戸⼾户〜～㫚曶㬵胶㬺幐㮣槩墫壿晚晩朌肦朐胊朓脁"
)
TWINS: dict[str, str] = {}
for _written, _meant in zip(_PAIRS[::2], _PAIRS[1::2], strict=True):
    TWINS[_written] = TWINS.get(_written, "") + _meant

_FOLDED = {written: unicodedata.normalize("NFKC", meant[0]) for written, meant in TWINS.items()}
_FOLDED |= {other: _FOLDED[written] for written, meant in TWINS.items() for other in meant[1:]}
_FOLDED["戶"] = _FOLDED["戸"] = _FOLDED["⼾"]


def find_meant(written: str, *, source: Collection[str]) -> str:
    """The character or characters of ``source`` that ``written`` stands for; itself where it is there or none fits."""
    if written in source:
        return written
    candidates: list[str] = [*TWINS.get(written, ""), unicodedata.normalize("NFKC", written)]
    for candidate in candidates:
        if candidate in source or (len(candidate) > 1 and all(part in source for part in candidate)):
            return candidate
    return written


def fold_characters(text: str) -> str:
    """One form for characters that look the same, for comparing."""
    joined = "".join(_FOLDED.get(char, char) for char in text)
    return "".join(_FOLDED.get(char, char) for char in unicodedata.normalize("NFKC", joined))
