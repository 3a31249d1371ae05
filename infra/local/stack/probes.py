"""Small questions to a server that is coming up. Each answers within two seconds."""

import http.client
import socket


def listens(port: int) -> bool:
    """Whether something accepts connections on that port of 127.0.0.1."""
    with socket.create_connection(("127.0.0.1", port), timeout=2):
        return True


def http_status(
    port: int, path: str, *, method: str = "GET", body: str = "", headers: dict[str, str] | None = None
) -> int:
    """The status of one HTTP request to 127.0.0.1; 0 when what answers does not speak HTTP."""
    return _ask(port, path, method=method, body=body, headers=headers or {})[0]


def http_text(port: int, path: str) -> str:
    """The body of an answer 200 to a GET, at most 64 KB of it; empty for any other answer."""
    status, text = _ask(port, path, method="GET", body="", headers={})
    return text if status == 200 else ""


def _ask(port: int, path: str, *, method: str, body: str, headers: dict[str, str]) -> tuple[int, str]:
    # http.client, since it knows nothing of proxies: none stands between us and loopback.
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request(method, path, body=body or None, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(65536).decode(errors="replace")
    except http.client.HTTPException:
        return 0, ""
    finally:
        connection.close()
