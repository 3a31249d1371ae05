import pytest

from chalicelib.domain.console_links import alert_link, console_link, invite_link


@pytest.mark.parametrize("base", ["", "/api", "https://headgate.example.com", "https://example.com/a/b"])
def test_a_link_leads_to_a_page_behind_the_sign_that_no_server_sees(base: str) -> None:
    assert console_link(base) == f"{base}/console"
    assert alert_link(base, "1") == f"{base}/console#/alerts/1"
    assert invite_link(base, "t") == f"{base}/console#/invite/t"


def test_a_slash_at_the_end_of_the_base_is_not_doubled() -> None:
    assert console_link("https://example.com/") == "https://example.com/console"
