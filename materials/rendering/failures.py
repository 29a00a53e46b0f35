"""Why a document could not be rendered. One tree; retryability is in the type of failure."""

from enum import StrEnum


class RenderCode(StrEnum):
    BROWSER_GONE = "browser_gone"
    TIMEOUT = "timeout"
    CHROMIUM_MISSING = "chromium_missing"
    FONT_MISSING = "font_missing"
    TOO_LONG = "too_long"
    TEXT_LAYER = "text_layer"


RETRYABLE = frozenset({RenderCode.BROWSER_GONE, RenderCode.TIMEOUT})
INSTALLATION = frozenset({RenderCode.CHROMIUM_MISSING, RenderCode.FONT_MISSING})


class RenderFailed(Exception):
    """The document could not be rendered."""

    def __init__(self, code: RenderCode, message: str) -> None:
        super().__init__(message)
        self.code = code

    @property
    def retryable(self) -> bool:
        return self.code in RETRYABLE

    @property
    def error_code(self) -> str:
        """The pipeline's name for it: two are the machine's fault, two pass, the rest are ours or the document's."""
        if self.retryable:
            return "browser_transient"
        return "configuration" if self.code in INSTALLATION else "internal"


class TooLong(RenderFailed):
    """The document needs more pages than it may have; the caller trims and renders again."""

    def __init__(self, *, pages: int, limit: int) -> None:
        super().__init__(RenderCode.TOO_LONG, f"The document takes {pages} pages and may take {limit}.")
        self.pages = pages
        self.limit = limit


class Flaw(StrEnum):
    """What is wrong with a text layer."""

    MISSING = "missing"
    OUT_OF_ORDER = "out_of_order"
    WORDS_JOINED = "words_joined"
    WORD_BROKEN = "word_broken"
    LIGATURE = "ligature"
    PRIVATE_USE = "private_use"
    MISSING_GLYPH = "missing_glyph"
    FONT_NOT_EMBEDDED = "font_not_embedded"


class TextLayerMismatch(RenderFailed):
    """The text a machine would read is not the text that was written."""

    def __init__(self, flaw: Flaw, message: str) -> None:
        super().__init__(RenderCode.FONT_MISSING if flaw is Flaw.MISSING_GLYPH else RenderCode.TEXT_LAYER, message)
        self.flaw = flaw
