from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.kit.hosts import (
    MAX_URL_CHARACTERS,
    UrlRefused,
    in_url,
    ip_address,
    is_loopback,
    is_protected,
    normalized,
    parse_server,
    parse_url,
    read_url,
)

REFUSED = {
    "url_scheme": (
        *("http://hooks.example.com/x", "hooks.example.com/x", "", "https:hooks.example.com"),
        *("https:/hooks.example.com", "javascript:alert(1)"),
    ),
    "url_characters": (
        *(" https://hooks.example.com/", "https://hooks.example.com/\n", "https://hooks.exa\tmple.com/"),
        *("https://hooks.example.com/a b", "https://hooks.example.com/\x7f", "https://hooks.example.com/#x"),
        *("https://good.example\\@127.0.0.1/", "https://hooks.example.com\u200b/"),
        *("https://hooks\u00ad.example.com/",),
    ),
    "url_user": (
        *("https://user@hooks.example.com/", "https://user:password@hooks.example.com/"),
        *("https://@hooks.example.com/",),
    ),
    "url_host": (
        *("https:///x", "https://?x", "https://%31%32%37.0.0.1/", "https://hooks.example.com%2f/"),
        *("https://[fe80::1%25eth0]/", "https://[fe80::1%eth0]/", "https://[::1/", "https://[::g]/"),
        *("https://[v1.x]/", "https://hooks..example.com/", "https://hooks.example.com../"),
        *("https://.example.com/", "https://-hooks.example.com/", "https://hooks-.example.com/"),
        *("https://ho_oks.example.com/", "https://hooks.example.com;/", "https://hooks.example.com,b.example/"),
        *(f"https://{'a' * 64}.example.com/", f"https://{'a.' * 127}com/", "https://xn--/"),
        *("https://xn--a.example/", "https://127.1/", "https://2130706433/", "https://0x7f000001/"),
        *("https://0x7f.0.0.1/", "https://017700000001/", "https://0177.0.0.1/", "https://127.0.0.01/"),
        *("https://1.2.3.4.5/", "https://256.1.1.1/", "https://a.0x/", "https://example.1/"),
    ),
    "url_port": (
        *("https://hooks.example.com:/", "https://hooks.example.com:0/", "https://hooks.example.com:0443/"),
        *("https://hooks.example.com:65536/", "https://hooks.example.com:+443/", "https://hooks.example.com:４４３/"),
        *("https://hooks.example.com:443:443/",),
    ),
    "url_too_long": ("https://" + "a" * MAX_URL_CHARACTERS,),
}
"""URLs that parsers may read in different ways, by the rule that refuses them."""

SPELLINGS = [
    ("https://hooks.example.com", "https://hooks.example.com/"),
    ("HTTPS://Hooks.EXAMPLE.com./A?b=C", "https://hooks.example.com/A?b=C"),
    ("https://hooks.example.com:443/a", "https://hooks.example.com/a"),
    ("https://hooks.example.com:8443?a", "https://hooks.example.com:8443/?a"),
    ("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
    ("https://BÜCHER.example/%C3%A4", "https://xn--bcher-kva.example/%C3%A4"),
    ("https://bu\u0308cher.example/", "https://xn--bcher-kva.example/"),
    ("https://faß.example/", "https://xn--fa-hia.example/"),
    ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
    ("https://127。0。0。1/", "https://127.0.0.1/"),
    ("https://①②⑦.⓪.⓪.①/", "https://127.0.0.1/"),
    ("https://８.8.8.8/", "https://8.8.8.8/"),
    ("https://[2606:4700:0:0::1]:8443/a", "https://[2606:4700::1]:8443/a"),
]


@pytest.mark.parametrize(("text", "rule"), [(text, rule) for rule, texts in REFUSED.items() for text in texts])
def test_a_url_that_parsers_may_read_differently_is_refused(text: str, rule: str) -> None:
    with pytest.raises(UrlRefused) as refused:
        parse_url(text)
    assert (refused.value.rule, refused.value.code) == (rule, "URL_NOT_ALLOWED")
    assert not text or text not in refused.value.message


@pytest.mark.parametrize(("text", "spelling"), SPELLINGS)
def test_every_spelling_becomes_the_one_that_is_contacted(text: str, spelling: str) -> None:
    assert str(parse_url(text)) == spelling


def test_people_see_scheme_and_host_only() -> None:
    url = parse_url("https://hooks.example.com:8443/secret?key=secret")
    assert url.target.mask == "https://hooks.example.com/********"


PIECES = st.sampled_from(
    [
        *("https://", "http://", "a", "example.com", "127.0.0.1", "localhost", "::1", "443", "8443", "0x7f", "x"),
        *("%2e", "%00", "ü", "。", "０", " ", "\t"),
        *".:@/?#\\%[]-&;,|^",
    ]
)


@given(text=st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=60).map(lambda rest: "https://" + rest))
def test_what_is_accepted_is_one_url_for_every_parser(text: str) -> None:
    try:
        url = parse_url(text)
    except UrlRefused:
        return
    again, spelling = parse_url(str(url)), str(url)
    assert spelling.isascii()
    assert str(again) == spelling
    by_httpx, by_standard_library = httpx.URL(spelling), urlsplit(spelling)
    host = url.target.host.strip("[]")
    assert (by_httpx.raw_host.decode(), by_httpx.port or 443) == (host, url.target.port)
    assert (by_standard_library.hostname, by_standard_library.port or 443) == (host, url.target.port)
    assert not by_httpx.userinfo


@pytest.mark.parametrize(
    ("text", "server"),
    [("kafka_1:9092", ("kafka_1", 9092)), ("[::1]:9092", ("::1", 9092)), ("10.0.0.1:1", ("10.0.0.1", 1))],
)
def test_a_server_has_a_host_and_a_port(text: str, server: tuple[str, int]) -> None:
    assert parse_server(text) == server
    assert f"{in_url(server[0])}:{server[1]}" == text


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        *((text, "url_port") for text in ("kafka", "kafka:", "kafka:0", "kafka:65536", "kafka:x", "[::1]", "[::1]:+1")),
        *((text, "url_host") for text in (":9092", "::1:9092", "[::g]:1", "[fe80::1%eth0]:1", "a/b:1", "käfka:1")),
    ],
)
def test_a_server_of_another_form_is_refused(text: str, rule: str) -> None:
    with pytest.raises(UrlRefused) as refused:
        parse_server(text)
    assert refused.value.rule == rule


@pytest.mark.parametrize(
    ("text", "scheme", "host", "port"),
    [
        ("http://Connect_1:8083/a", "http", "connect_1", 8083),
        ("https://login.example.com.?a", "https", "login.example.com", 443),
        ("http://[0:0::1]", "http", "[::1]", 80),
    ],
)
def test_a_url_of_a_private_network_is_read(text: str, scheme: str, host: str, port: int) -> None:
    url = read_url(text)
    assert url is not None
    assert (url.scheme, url.host, url.port) == (scheme, host, port)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "connect:8083",
            "ftp://a",
            "HTTPS://a",
            "http://",
            "http:///a",
            "http://a b",
            "http://a\\b",
            "http://a#b",
        ),
        *("http://user@a", "http://a:0", "http://a:x", "http://a:", "http://[::1", "http://a@b", "http://ä"),
        *("http://a/\n", "http://a%2f", "http://" + "a" * MAX_URL_CHARACTERS),
    ],
)
def test_a_text_that_is_no_url_of_a_private_network_is_none(text: str) -> None:
    assert read_url(text) is None
    assert not is_protected(text)


@pytest.mark.parametrize("host", ["localhost", "LocalHost.", "127.0.0.1", "127.9.9.9", "::1", "[0::1]"])
def test_this_machine_is_known_by_its_names_and_addresses(host: str) -> None:
    assert is_loopback(host)
    assert is_protected(f"http://{in_url(host)}:8080/a")


@pytest.mark.parametrize("host", ["localhost.example.com", "127.0.0.1.example.com", "128.0.0.1", "::2", "2130706433"])
def test_other_hosts_are_not_this_machine(host: str) -> None:
    assert not is_loopback(host)
    assert not is_protected(f"http://{in_url(host)}/")
    assert is_protected(f"https://{in_url(host)}/")


def test_two_spellings_of_a_name_are_the_same() -> None:
    assert normalized("DB.Example.com.") == normalized("db.example.COM")


def test_an_address_is_read_with_brackets_and_with_a_zone() -> None:
    assert str(ip_address("[FE80::1%eth0]")) == "fe80::1"
    assert ip_address("db.example.com") is None
