"""Which IP addresses are on the public internet. Pure."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

# IANA special-purpose registries (RFC 6890 and its updates), spelled out where ``ipaddress`` of the supported
# Python versions disagrees with them or with each other.
_REFUSED_V4: Final = tuple(
    IPv4Network(block)
    for block in ("100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4")
)
_GLOBAL_V6: Final = IPv6Network("2000::/3")
_REFUSED_V6: Final = tuple(IPv6Network(block) for block in ("2001::/23", "2001:db8::/32", "3fff::/20"))
_SIX_TO_FOUR: Final = IPv6Network("2002::/16")
_NAT64: Final = IPv6Network("64:ff9b::/96")  # RFC 6052; the local-use 64:ff9b:1::/48 stays refused
_ISATAP: Final = (0x00005EFE, 0x02005EFE)  # RFC 5214: the middle word of the interface identifier


def is_public_address(text: str) -> bool:
    """Whether a connection to this address leaves for the public internet.

    Addresses that carry an IPv4 address inside (mapped, 6to4, NAT64, ISATAP) are judged by that one too;
    Teredo, scoped and unreadable addresses are never public.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return _is_public_v4(address) if isinstance(address, IPv4Address) else _is_public_v6(address)


def _is_public_v4(address: IPv4Address) -> bool:
    return address.is_global and not any(address in block for block in _REFUSED_V4)


def _is_public_v6(address: IPv6Address) -> bool:
    if address.scope_id is not None:
        return False
    low = IPv4Address(int(address) & 0xFFFFFFFF)
    if address.ipv4_mapped is not None or address in _NAT64:
        return _is_public_v4(low)
    if address not in _GLOBAL_V6 or any(address in block for block in _REFUSED_V6):
        return False
    if address in _SIX_TO_FOUR and not _is_public_v4(IPv4Address(int(address) >> 80 & 0xFFFFFFFF)):
        return False
    is_isatap = int(address) >> 32 & 0xFFFFFFFF in _ISATAP
    return address.is_global and (not is_isatap or _is_public_v4(low))
