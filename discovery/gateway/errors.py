"""Why a fetch failed. Codes and host names only: never a body, a path or a query."""

from enum import StrEnum

HOST_LIMIT = 100  # characters of a host name that a message may carry
MESSAGE_LIMIT = 240


class UnsafeCause(StrEnum):
    SCHEME = "scheme"
    USERINFO = "userinfo"
    HOST = "host"
    PORT = "port"
    PRIVATE_LITERAL = "private_literal"
    DNS_NON_PUBLIC = "dns_non_public"
    REDIRECT_NON_PUBLIC = "redirect_non_public"
    REDIRECT_DOWNGRADE = "redirect_downgrade"


class FetchCancelled(Exception):
    """The caller asked to stop. Not a FetchError, so that nobody records it as a failure of the source."""

    def __init__(self) -> None:
        super().__init__("The fetch was cancelled.")


class FetchError(Exception):
    """The page could not be fetched."""

    code = "FETCH_FAILED"
    retryable = False
    error_type = "missing_input"  # the ApplicationError type of the specification's "Errors"

    def __init__(self, message: str = "", *, code: str = "", host: str = "") -> None:
        self.code = code or type(self).code
        self.host = ""
        self.message = (message or (type(self).__doc__ or "").strip())[:MESSAGE_LIMIT]
        super().__init__(self.message)
        self.name_host(host)

    def name_host(self, host: str) -> None:
        """Which site it was about, for a failure raised where that is not known. The first name stays."""
        if not host or self.host:
            return
        self.host = host[:HOST_LIMIT]
        self.message = f"{self.host}: {self.message}"[:MESSAGE_LIMIT]
        self.args = (self.message,)


class UnsafeDestination(FetchError):
    """This address is not a public web address, so it was not contacted."""

    code = "DETAIL_UNSAFE_URL"
    error_type = "configuration"

    def __init__(self, cause: UnsafeCause, *, host: str = "", hop: int = 0) -> None:
        super().__init__(host=host)
        self.cause = cause
        self.hop = hop  # 0 = the address asked for, n = the n-th redirect


class SourceUnavailable(FetchError):
    """The site cannot answer now."""

    code = "SOURCE_UNAVAILABLE"
    retryable = True
    error_type = "source_unavailable"

    def __init__(self, message: str = "", *, status: int, host: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, code="RATE_LIMITED" if status == 429 else "", host=host)
        self.status = status
        self.retry_after = retry_after  # seconds from now, None = the site did not say


class NotFound(FetchError):
    """There is no such page any more."""

    code = "NOT_FOUND"


class Denied(FetchError):
    """The site refuses us this page."""

    code = "ACCESS_DENIED"
    error_type = "authentication"


class TooLarge(FetchError):
    """The page is larger than we read."""

    code = "BODY_TOO_LARGE"


class NetworkFailure(FetchError):
    """The connection to the site failed."""

    code = "NETWORK_FAILURE"
    retryable = True
    error_type = "transient_network"


class BadContent(FetchError):
    """The site answered with something that cannot be read."""

    code = "BAD_CONTENT"

    # What a site under maintenance or a cut connection also yields: worth another try.
    _PASSING = frozenset({"HTML_INSTEAD_OF_JSON", "TRUNCATED_JSON", "EMPTY_BODY"})

    def __init__(self, message: str = "", *, code: str, host: str = "") -> None:
        super().__init__(message, code=code, host=host)
        self.retryable = code in self._PASSING
        if self.retryable:
            self.error_type = "source_unavailable"
