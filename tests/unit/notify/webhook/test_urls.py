import pytest

from chalicelib.kit.hosts import UrlRefused
from chalicelib.notify.webhook.sender import webhook_url


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("https://hooks/", "url_host"),
        ("https://localhost/", "url_host"),
        ("https://hooks.example.com:80/", "url_port"),
        ("https://hooks.example.com:22/", "url_port"),
    ],
)
def test_a_webhook_is_on_a_full_name_and_an_unprivileged_port(text: str, rule: str) -> None:
    with pytest.raises(UrlRefused) as refused:
        webhook_url(text)
    assert refused.value.rule == rule


def test_headgate_itself_is_no_webhook() -> None:
    assert str(webhook_url("https://cdc.example.com/", own_host="headgate.example.com"))
    with pytest.raises(UrlRefused) as refused:
        webhook_url("https://Headgate.Example.com.:8443/api", own_host="headgate.example.com")
    assert refused.value.rule == "url_own_host"
