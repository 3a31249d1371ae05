import pytest

from chalicelib.api.framework.sent_credentials import bearer_token, sent_cookie

PLAIN, SECURE = "headgate_session", "__Host-headgate_session"
LOOPBACK = {"host": "127.0.0.1:8000"}
PUBLIC = {"host": "headgate.example.com"}
HTTPS = {"x-forwarded-proto": "https"}


@pytest.mark.parametrize("other", ['{"a": 1}', "a b=c", "=", "ä=ö", 'quoted="a;b"', "expires", "a=1; path"])
def test_cookies_of_other_applications_do_not_sign_out(other: str) -> None:
    own = f"{PLAIN}=own"
    for cookie in (f"{other}; {own}", f"{own}; {other}", f"{other};{own};{other}"):
        assert sent_cookie({**LOOPBACK, "cookie": cookie}) == "own", cookie


@pytest.mark.parametrize(
    ("headers", "cookie", "value"),
    [
        pytest.param(LOOPBACK, f"{SECURE}=first; {SECURE}=second", "first", id="the first of two counts"),
        pytest.param(LOOPBACK, f"{SECURE}=; {PLAIN}=own", "", id="an empty host cookie does not fall back"),
        pytest.param(PUBLIC, f"{PLAIN}=own", None, id="a plain cookie away from loopback"),
        pytest.param({**LOOPBACK, **HTTPS}, f"{PLAIN}=own", None, id="a plain cookie over https"),
        pytest.param({**PUBLIC, **HTTPS}, f"{PLAIN}=planted; {SECURE}=own", "own", id="the host cookie over https"),
        # A browser lets other hosts of the domain set a cookie whose name does not begin with `__Host-`.
        *(
            pytest.param(LOOPBACK, f"{space}{SECURE}=foreign; {SECURE}=own", "own", id=f"a name after {space!a}")
            for space in ("\u2000", "\xa0", "\x85", "\x1c")
        ),
    ],
)
def test_the_cookie_that_no_other_host_can_have_set_counts(
    headers: dict[str, str], cookie: str, value: str | None
) -> None:
    assert sent_cookie({**headers, "cookie": cookie}) == value


@pytest.mark.parametrize(
    ("header", "token"),
    [("Bearer a", "a"), ("bearer  a ", "a"), ("Bearer", ""), ("Basic a", None), ("", None)],
)
def test_a_bearer_token_is_read_from_its_header_only(header: str, token: str | None) -> None:
    assert bearer_token({"authorization": header}) == token
