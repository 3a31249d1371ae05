import pytest
from pydantic import TypeAdapter, ValidationError

from chalicelib.api.contract.clusters import TokenUrl


@pytest.mark.parametrize(
    "url", ["https://[::1]:x/token", "http://[::1]:x", "https://a:b:c", "https://a:99999", "https://[", "https://a]b"]
)
def test_a_token_url_without_a_host_and_a_port_is_refused(url: str) -> None:
    # Later, where the URL is called, each of these would be an unexpected failure.
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(TokenUrl).validate_python(url)
    assert refused.value.errors()[0]["type"] == "host"


@pytest.mark.parametrize("url", ["https://login.example.com/token", "https://[::1]:8443/token", "http://127.0.0.1:80"])
def test_a_token_url_with_a_host_is_taken(url: str) -> None:
    assert TypeAdapter(TokenUrl).validate_python(url) == url
