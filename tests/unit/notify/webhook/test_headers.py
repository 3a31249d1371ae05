import pytest

from chalicelib.notify.webhook.headers import MAX_BYTES, MAX_HEADERS, header_faults, sendable_headers


@pytest.mark.parametrize(
    "name",
    [
        *("host", "CONTENT-LENGTH", "Transfer-Encoding", " Host ", "connection", "Keep-Alive", "TE", "Trailer"),
        *("Upgrade", "Expect", "Proxy-Authorization", "proxy-anything", "webhook-id", "Webhook-Timestamp"),
        *("WEBHOOK-SIGNATURE", "Idempotency-Key", "host\t"),
    ],
)
def test_headers_of_the_request_itself_are_refused_and_never_sent(name: str) -> None:
    assert "header_not_allowed" in list(header_faults({name: "x"}))
    assert sendable_headers({name: "x", "X-Team": "data"}) == {"x-team": "data"}


@pytest.mark.parametrize("name", ["", "a b", "a:b", "a\r\nb", "ä", "a\x00", "a(b)", "a/b", "x" * 101, " X-Team"])
def test_a_name_that_is_no_token_is_refused_and_never_sent(name: str) -> None:
    assert "header_name" in list(header_faults({name: "x"}))
    assert sendable_headers({name: "x"}) == {}


@pytest.mark.parametrize("value", ["a\r\nHost: b", "a\nb", "ä", "a\x00b", " a", "a ", "a\tb", "\x7f", "🙂"])
def test_a_value_that_is_not_visible_ascii_is_refused_and_never_sent(value: str) -> None:
    assert "header_value" in list(header_faults({"X-Team": value}))
    assert sendable_headers({"X-Team": value}) == {}


def test_a_header_is_given_once_whatever_its_case() -> None:
    assert list(header_faults({"X-Team": "a", "x-team": "b"})) == ["header_repeated"]


def test_headers_are_bounded() -> None:
    assert not list(header_faults({f"X-{n}": "v" for n in range(MAX_HEADERS)}))
    assert list(header_faults({f"X-{n}": "v" for n in range(MAX_HEADERS + 1)})) == ["headers_too_long"]
    assert not list(header_faults({"X-A": "v" * (MAX_BYTES - 3)}))
    assert list(header_faults({"X-A": "v" * (MAX_BYTES - 2)})) == ["headers_too_long"]


def test_good_headers_are_sent_as_they_are() -> None:
    headers = {"X-Team": "data platform", "Authorization": "Bearer a.b-c", "x_y": ""}
    assert not list(header_faults(headers))
    assert sendable_headers(headers) == {"x-team": "data platform", "authorization": "Bearer a.b-c", "x_y": ""}
