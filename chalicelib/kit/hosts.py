"""The one reader of host names, IP addresses and URLs.

Parsers of URLs differ, and a text that two of them read differently leads to a host that nobody has checked. So what
any parser might read in another way is refused, and the URL that is contacted is built from the parts that were checked
(WHATWG URL Standard, 4.4; RFC 3986; RFC 6874 for zone ids).

`parse_url` is for URLs on the public network, `read_url` for those that an installation or its operators name: their
hosts may have names that only a private network knows, such as `connect_1`.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from unicodedata import normalize
from urllib.parse import quote

from chalicelib.errors import Invalid
from chalicelib.kit.masking import MASK

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

MAX_URL_CHARACTERS = 2048
MAX_HOST_CHARACTERS = 253
DEFAULT_PORT = 443
_DEFAULT_PORTS: Mapping[str, int] = {"http": 80, "https": DEFAULT_PORT}
_URL = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?]*)(?P<rest>.*)\Z", re.IGNORECASE | re.DOTALL)
_AUTHORITY = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[^:\[\]]*)(?::(?P<port>0|[1-9][0-9]{0,4}))?\Z", re.IGNORECASE)
_PRIVATE_NAME = re.compile(r"[A-Za-z0-9._-]+\Z")
_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)\Z")
_NUMBER = re.compile(r"(0x[0-9a-f]*|[0-9]+)\Z")
"""A last label that looks like this makes a URL parser read the host as an IPv4 address, in many spellings."""

_MESSAGES: Mapping[str, str] = {
    "url_too_long": f"The URL is longer than {MAX_URL_CHARACTERS} characters.",
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
class HttpsHost:
    """A host and port. `host` is in lower case and ASCII, an IPv6 address in brackets."""

    host: str
    port: int = DEFAULT_PORT

    @property
    def origin(self) -> str:
        """`https://` with the host, and the port unless it is 443."""
        return f"https://{self.host}" + (f":{self.port}" if self.port != DEFAULT_PORT else "")

    @property
    def mask(self) -> str:
        """The part of a URL there that people may see."""
        return f"https://{self.host}/{MASK}"


@dataclass(frozen=True, slots=True)
class HttpsUrl:
    """An https URL. `path` is ASCII, with the query, and empty or begins with a slash or a question mark."""

    target: HttpsHost
    path: str

    def __str__(self) -> str:
        return self.target.origin + (self.path if self.path.startswith("/") else "/" + self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateUrl:
    """An http or https URL that may lead into a private network. `host` is in lower case."""

    scheme: str
    host: str
    port: int

    @property
    def origin(self) -> str:
        """The URL without a path, and without the port that its scheme has anyway."""
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{in_url(self.host)}{port}"


class UrlRefused(Invalid):
    """A URL breaks a rule, which `rule` names. The code is `URL_NOT_ALLOWED`; the text of the URL is not repeated."""

    def __init__(self, rule: str) -> None:
        super().__init__(_MESSAGES[rule], code="URL_NOT_ALLOWED")
        self.rule = rule


def parse_url(text: str) -> HttpsUrl:
    """The parts of an https URL that every parser reads in the same way. Raises UrlRefused."""
    if len(text) > MAX_URL_CHARACTERS:
        raise UrlRefused("url_too_long")
    if not _has_url_characters(text):
        raise UrlRefused("url_characters")
    match = _URL.match(text)
    if match is None or match["scheme"].lower() != "https":
        raise UrlRefused("url_scheme")
    if "@" in match["authority"]:
        raise UrlRefused("url_user")
    return HttpsUrl(parse_host(match["authority"]), quote(match["rest"], safe="%/?:@!$&'()*+,;=-._~[]|{}"))


def parse_host(authority: str) -> HttpsHost:
    """A host of the public network, with or without a port, in one spelling. Raises UrlRefused."""
    host, port = _split(authority)
    return HttpsHost(host if host.startswith("[") else _public_name(host), port or DEFAULT_PORT)


def parse_server(text: str) -> tuple[str, int]:
    """The host, an IPv6 address without brackets, and the port of `host:port`. Raises UrlRefused."""
    host, port = _split(text)
    if port is None:
        raise UrlRefused("url_port")
    if not _is_private_host(host):
        raise UrlRefused("url_host")
    return host.strip("[]"), port


def read_url(text: str) -> PrivateUrl | None:
    """The parts of an http or https URL, None for any other text. User names and fragments are refused as well."""
    match = _URL.match(text)
    if match is None or match["scheme"] not in _DEFAULT_PORTS or not text.isascii() or not _has_url_characters(text):
        return None
    if len(text) > MAX_URL_CHARACTERS:
        return None
    try:
        host, port = _split(match["authority"])
    except UrlRefused:
        return None
    if not _is_private_host(host):
        return None
    return PrivateUrl(scheme=match["scheme"], host=normalized(host), port=port or _DEFAULT_PORTS[match["scheme"]])


def is_protected(url: str) -> bool:
    """Whether nobody on the way can read or change what is sent to this URL: https, or this machine itself.

    False as well for a text that `read_url` refuses.
    """
    parts = read_url(url)
    return parts is not None and (parts.scheme == "https" or is_loopback(parts.host))


def ip_address(text: str) -> Address | None:
    """The IP address that a host is written as, with or without brackets or a zone; None for a name."""
    try:
        return ipaddress.ip_address(text.partition("%")[0].strip("[]"))
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """Whether this host is the machine itself, by its name or its address. No name server is asked."""
    name = normalized(host)
    address = ip_address(name)
    return address.is_loopback if address else name == "localhost"


def normalized(host: str) -> str:
    """The spelling by which host names are compared: lower case, without a dot at the end."""
    return host.casefold().rstrip(".")


def in_url(host: str) -> str:
    """The host as it stands in a URL: an IPv6 address in brackets."""
    address = ip_address(host)
    return f"[{address}]" if isinstance(address, ipaddress.IPv6Address) else str(address or host)


def may_be_host(text: str) -> bool:
    """Whether a resolver may be asked for this text: nothing in it ends a host in a URL, or looks like a zone."""
    is_odd = any(letter.isspace() or letter in "/@?#,\\%" or not letter.isprintable() for letter in text)
    return 0 < len(text) <= MAX_HOST_CHARACTERS and not is_odd


def _has_url_characters(text: str) -> bool:
    return not any(letter in "\\#" or letter.isspace() or not letter.isprintable() for letter in text)


def _split(authority: str) -> tuple[str, int | None]:
    """A host and its port, None without one; an IPv6 address in one spelling. Raises UrlRefused."""
    match = _AUTHORITY.match(authority)
    if match is None:
        host, colon, _ = authority.rpartition(":")
        raise UrlRefused("url_port" if colon and _AUTHORITY.match(host) else "url_host")
    port = int(match["port"]) if match["port"] else None
    if port is not None and not 0 < port < 65536:
        raise UrlRefused("url_port")
    if not match["host"].startswith("["):
        return match["host"], port
    try:
        return f"[{ipaddress.IPv6Address(match['host'][1:-1]).compressed}]", port
    except ValueError:
        raise UrlRefused("url_host") from None


def _is_private_host(host: str) -> bool:
    return host.startswith("[") or _PRIVATE_NAME.match(host) is not None


def _public_name(text: str) -> str:
    name = (text if text.isascii() else _ascii_name(text)).lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > MAX_HOST_CHARACTERS or not all(_LABEL.match(label) and _is_readable(label) for label in labels):
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
