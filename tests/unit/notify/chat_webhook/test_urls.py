import pytest

from chalicelib.kit.hosts import HttpsHost, UrlRefused, parse_host
from chalicelib.notify.chat_webhook.sender import chat_webhook_url

SLACK = HttpsHost("hooks.slack.com")


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
    assert parse_host("Chat:9000") == HttpsHost("chat", 9000)
    with pytest.raises(UrlRefused):
        chat_webhook_url("https://127.0.0.1/services/T", allowed)
