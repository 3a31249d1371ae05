"""URLs that the installation, or a system that it trusts, names."""

import re

_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?(?:[/?][!-\"$-\[\]-~]*)?"
)
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def is_protected(url: str) -> bool:
    """Whether nobody on the way can read or change what is sent to this URL: https, or this machine itself.

    False as well for a text that is no such URL: with a user name, a fragment, a space, or letters beyond ASCII.
    """
    found = _URL.fullmatch(url)
    return found is not None and (found["scheme"] == "https" or found["host"].lower() in _LOOPBACK)
