"""The URLs of notification channels: read once, strictly, and written again from what was read.

Parsers of URLs differ, and a text that two of them read differently leads to a host that nobody has checked. So what
any parser might read in another way is refused, and the URL that is contacted is built from the parts that were checked
(WHATWG URL Standard, 4.4; RFC 3986; RFC 6874 for zone ids).
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from unicodedata import normalize
from urllib.parse import quote

from chalicelib.errors import Invalid
from chalicelib.kit.masking import MASK

MOST_CHARACTERS = 2048
DEFAULT_PORT = 443
_FIRST_UNPRIVILEGED_PORT = 1024
_URL = re.compile(r"https://(?P<authority>[^/?]*)(?P<rest>.*)\Z", re.IGNORECASE | re.DOTALL)
_AUTHORITY = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[^:\[\]]*)(?::(?P<port>0|[1-9][0-9]{0,4}))?\Z", re.IGNORECASE)
_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)\Z")
_NUMBER = re.compile(r"(0x[0-9a-f]*|[0-9]+)\Z")
"""A last label that looks like this makes a URL parser read the host as an IPv4 address, in many spellings."""

_MESSAGES: Mapping[str, str] = {
    "url_too_long": f"The URL is longer than {MOST_CHARACTERS} characters.",
    "url_characters": "The URL has a space, a control character, a backslash or a fragment (#). Remove it.",
    "url_scheme": "The URL has to begin with https://.",
    "url_user": "The URL has a user name or a password. Remove it; secrets go into their own fields.",
    "url_host": "The URL has no host name that can be used. Give a full name, such as hooks.example.com.",
    "url_port": "The port has to be 443 or one from 1024 to 65535.",
    "url_path": "The URL has no path. Copy the whole URL that the provider shows.",
    "url_other_host": "The URL is not on the host of the chat service that this installation uses.",
    "url_own_host": "The URL leads to Headgate itself.",
}


@dataclass(frozen=True, slots=True)
class TargetHost:
    """A host and port. `host` is in lower case and ASCII, an IPv6 address in brackets."""

    host: str
    port: int = DEFAULT_PORT

    @property
    def origin(self) -> str:
        """`https://` with the host, and the port unless it is 443."""
        return f"https://{self.host}" + (f":{self.port}" if self.port != DEFAULT_PORT else "")

    @property
    def mask(self) -> str:
        """What people may see of a URL there."""
        return f"https://{self.host}/{MASK}"


@dataclass(frozen=True, slots=True)
class TargetUrl:
    """An https URL. `path` is ASCII, with the query, and empty or begins with a slash or a question mark."""

    target: TargetHost
    path: str

    def __str__(self) -> str:
        return self.target.origin + (self.path if self.path.startswith("/") else "/" + self.path)


class UrlRefused(Invalid):
    """A URL breaks a rule, which `rule` names. The code is `URL_NOT_ALLOWED`; the text of the URL is not repeated."""

    def __init__(self, rule: str) -> None:
        super().__init__(_MESSAGES[rule], code="URL_NOT_ALLOWED")
        self.rule = rule


def webhook_url(text: str, *, own_host: str | None = None) -> TargetUrl:
    """The URL of a webhook on the public network; `own_host` is Headgate's own. Raises UrlRefused.

    Names of private networks and addresses are judged where they are resolved (`clients.addresses`).
    """
    url = parse_url(text)
    host, port = url.target.host, url.target.port
    if "." not in host and not host.startswith("["):
        raise UrlRefused("url_host")
    if port != DEFAULT_PORT and port < _FIRST_UNPRIVILEGED_PORT:
        raise UrlRefused("url_port")
    if own_host and host == own_host:
        raise UrlRefused("url_own_host")
    return url


def chat_webhook_url(text: str, allowed: TargetHost) -> TargetUrl:
    """The URL of a chat webhook: on exactly this host and port. Raises UrlRefused."""
    url = parse_url(text)
    if url.target != allowed:
        raise UrlRefused("url_other_host")
    if not url.path.partition("?")[0].strip("/"):
        raise UrlRefused("url_path")
    return url


def parse_url(text: str) -> TargetUrl:
    """The parts of an https URL that every parser reads in the same way. Raises UrlRefused."""
    if len(text) > MOST_CHARACTERS:
        raise UrlRefused("url_too_long")
    if any(character in "\\#" or character.isspace() or not character.isprintable() for character in text):
        raise UrlRefused("url_characters")
    found = _URL.match(text)
    if found is None:
        raise UrlRefused("url_scheme")
    if "@" in found["authority"]:
        raise UrlRefused("url_user")
    return TargetUrl(parse_host(found["authority"]), quote(found["rest"], safe="%/?:@!$&'()*+,;=-._~[]|{}"))


def parse_host(authority: str) -> TargetHost:
    """A host with or without a port, in one spelling. Raises UrlRefused."""
    found = _AUTHORITY.match(authority)
    if found is None:
        raise UrlRefused("url_port" if _has_odd_port(authority) else "url_host")
    port = int(found["port"] or DEFAULT_PORT)
    if not 0 < port < 65536:
        raise UrlRefused("url_port")
    host = found["host"]
    return TargetHost(_ipv6(host) if host.startswith("[") else _name(host), port)


def _has_odd_port(authority: str) -> bool:
    host, colon, _ = authority.rpartition(":")
    return bool(colon) and _AUTHORITY.match(host) is not None


def _ipv6(literal: str) -> str:
    try:
        return f"[{ipaddress.IPv6Address(literal[1:-1]).compressed}]"
    except ValueError:
        raise UrlRefused("url_host") from None


def _name(text: str) -> str:
    name = (text if text.isascii() else _ascii_name(text)).lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.match(label) and _is_readable(label) for label in labels):
        raise UrlRefused("url_host")
    if _NUMBER.match(labels[-1]):
        try:
            return str(ipaddress.IPv4Address(name))
        except ValueError:
            raise UrlRefused("url_host") from None
    return name


def _ascii_name(text: str) -> str:
    """UTS 46, strict and not transitional. Letters that look like dots and digits become these."""
    import idna

    try:
        return idna.encode(normalize("NFC", text), uts46=True, std3_rules=True, transitional=False).decode()
    except (idna.IDNAError, UnicodeError):
        raise UrlRefused("url_host") from None


def _is_readable(label: str) -> bool:
    """A label in Punycode has to be one that IDNA writes."""
    if not label.startswith("xn--"):
        return True
    import idna

    try:
        return idna.encode(idna.decode(label)).decode() == label
    except (idna.IDNAError, UnicodeError):
        return False
