from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.alerts.urls import (
    MOST_CHARACTERS,
    TargetHost,
    UrlRefused,
    chat_webhook_url,
    parse_host,
    webhook_url,
)

REFUSED = [
    ("http://hooks.example.com/x", "url_scheme"),
    ("hooks.example.com/x", "url_scheme"),
    ("", "url_scheme"),
    ("https:hooks.example.com", "url_scheme"),
    ("https:/hooks.example.com", "url_scheme"),
    ("javascript:alert(1)", "url_scheme"),
    (" https://hooks.example.com/", "url_characters"),
    ("https://hooks.example.com/\n", "url_characters"),
    ("https://hooks.exa\tmple.com/", "url_characters"),
    ("https://hooks.example.com/a b", "url_characters"),
    ("https://hooks.example.com/\x7f", "url_characters"),
    ("https://hooks.example.com/#x", "url_characters"),
    ("https://good.example\\@127.0.0.1/", "url_characters"),
    ("https://hooks.example.com\u200b/", "url_characters"),
    ("https://hooks\u00ad.example.com/", "url_characters"),
    ("https://user@hooks.example.com/", "url_user"),
    ("https://user:password@hooks.example.com/", "url_user"),
    ("https://@hooks.example.com/", "url_user"),
    ("https:///x", "url_host"),
    ("https://?x", "url_host"),
    ("https://%31%32%37.0.0.1/", "url_host"),
    ("https://hooks.example.com%2f/", "url_host"),
    ("https://[fe80::1%25eth0]/", "url_host"),
    ("https://[fe80::1%eth0]/", "url_host"),
    ("https://[::1/", "url_host"),
    ("https://[::g]/", "url_host"),
    ("https://[v1.x]/", "url_host"),
    ("https://hooks/", "url_host"),
    ("https://localhost/", "url_host"),
    ("https://hooks..example.com/", "url_host"),
    ("https://hooks.example.com../", "url_host"),
    ("https://.example.com/", "url_host"),
    ("https://-hooks.example.com/", "url_host"),
    ("https://hooks-.example.com/", "url_host"),
    ("https://ho_oks.example.com/", "url_host"),
    ("https://hooks.example.com;/", "url_host"),
    ("https://hooks.example.com,b.example/", "url_host"),
    (f"https://{'a' * 64}.example.com/", "url_host"),
    (f"https://{'a.' * 127}com/", "url_host"),
    ("https://xn--/", "url_host"),
    ("https://xn--a.example/", "url_host"),
    ("https://127.1/", "url_host"),
    ("https://2130706433/", "url_host"),
    ("https://0x7f000001/", "url_host"),
    ("https://0x7f.0.0.1/", "url_host"),
    ("https://017700000001/", "url_host"),
    ("https://0177.0.0.1/", "url_host"),
    ("https://127.0.0.01/", "url_host"),
    ("https://1.2.3.4.5/", "url_host"),
    ("https://256.1.1.1/", "url_host"),
    ("https://a.0x/", "url_host"),
    ("https://example.1/", "url_host"),
    ("https://hooks.example.com:/", "url_port"),
    ("https://hooks.example.com:80/", "url_port"),
    ("https://hooks.example.com:22/", "url_port"),
    ("https://hooks.example.com:0/", "url_port"),
    ("https://hooks.example.com:0443/", "url_port"),
    ("https://hooks.example.com:65536/", "url_port"),
    ("https://hooks.example.com:+443/", "url_port"),
    ("https://hooks.example.com:４４３/", "url_port"),
    ("https://hooks.example.com:443:443/", "url_port"),
    ("https://" + "a" * MOST_CHARACTERS, "url_too_long"),
]

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
SLACK = TargetHost("hooks.slack.com")


@pytest.mark.parametrize(("text", "rule"), REFUSED)
def test_a_url_that_parsers_may_read_differently_is_refused(text: str, rule: str) -> None:
    with pytest.raises(UrlRefused) as refused:
        webhook_url(text)
    assert (refused.value.rule, refused.value.code) == (rule, "URL_NOT_ALLOWED")
    assert not text or text not in refused.value.message


@pytest.mark.parametrize(("text", "spelling"), SPELLINGS)
def test_every_spelling_becomes_the_one_that_is_contacted(text: str, spelling: str) -> None:
    assert str(webhook_url(text)) == spelling


def test_headgate_itself_is_no_webhook() -> None:
    assert str(webhook_url("https://cdc.example.com/", own_host="headgate.example.com"))
    with pytest.raises(UrlRefused) as refused:
        webhook_url("https://Headgate.Example.com.:8443/api", own_host="headgate.example.com")
    assert refused.value.rule == "url_own_host"


@pytest.mark.parametrize(
    "text",
    [
        "https://hooks.slack.com/services/T/B/x",
        "https://HOOKS.slack.com./services/T",
        "https://hooks.slack.com:443/services/T",
    ],
)
def test_a_chat_webhook_is_on_the_configured_host(text: str) -> None:
    assert str(chat_webhook_url(text, SLACK)).startswith("https://hooks.slack.com/services/T")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("https://hooks.slack.com.evil.example/services/T", "url_other_host"),
        ("https://evil-hooks.slack.com/services/T", "url_other_host"),
        ("https://a.hooks.slack.com/services/T", "url_other_host"),
        ("https://slack.com/services/T", "url_other_host"),
        ("https://hooks.slack.com:8443/services/T", "url_other_host"),
        ("https://evil.example/hooks.slack.com", "url_other_host"),
        ("https://hooks.slack.com@evil.example/services/T", "url_user"),
        ("https://evil.example#hooks.slack.com/services/T", "url_characters"),
        ("https://evil.example\\.hooks.slack.com/services/T", "url_characters"),
        ("http://hooks.slack.com/services/T", "url_scheme"),
        ("https://hooks.slack.com", "url_path"),
        ("https://hooks.slack.com/", "url_path"),
        ("https://hooks.slack.com/?x=/services", "url_path"),
    ],
)
def test_a_chat_webhook_elsewhere_is_refused(text: str, rule: str) -> None:
    with pytest.raises(UrlRefused) as refused:
        chat_webhook_url(text, SLACK)
    assert refused.value.rule == rule


def test_the_configured_host_may_be_any_machine_with_a_port() -> None:
    allowed = parse_host("127.0.0.1:8443")
    assert str(chat_webhook_url("https://127.0.0.1:8443/services/T", allowed)) == "https://127.0.0.1:8443/services/T"
    assert parse_host("Chat:9000") == TargetHost("chat", 9000)
    with pytest.raises(UrlRefused):
        chat_webhook_url("https://127.0.0.1/services/T", allowed)


def test_people_see_scheme_and_host_only() -> None:
    assert (
        webhook_url("https://hooks.example.com:8443/secret?key=secret").target.mask
        == "https://hooks.example.com/********"
    )


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
        url = webhook_url(text)
    except UrlRefused:
        return
    again, spelling = webhook_url(str(url)), str(url)
    assert spelling.isascii()
    assert str(again) == spelling
    by_httpx, by_standard_library = httpx.URL(spelling), urlsplit(spelling)
    host = url.target.host.strip("[]")
    assert (by_httpx.host, by_httpx.port or 443) == (host, url.target.port)
    assert (by_standard_library.hostname, by_standard_library.port or 443) == (host, url.target.port)
    assert not by_httpx.userinfo
