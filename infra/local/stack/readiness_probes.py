"""Readiness checks of servers that are starting. Each answers within about two seconds."""

import socket

import httpx


def listens(port: int) -> bool:
    """Whether something accepts connections on that port of 127.0.0.1. Raises OSError when nothing does."""
    with socket.create_connection(("127.0.0.1", port), timeout=2):
        return True


def http_text(
    port: int, path: str, *, method: str = "GET", body: str | None = None, headers: dict[str, str] | None = None
) -> str:
    """The body of an answer 200 from 127.0.0.1; empty for any other answer, or none."""
    url = f"http://127.0.0.1:{port}{path}"
    try:
        answer = httpx.request(method, url, content=body, headers=headers, timeout=2, trust_env=False)
    except httpx.HTTPError:
        return ""
    return answer.text if answer.status_code == 200 else ""


def answers_ok(port: int, path: str) -> bool:
    """Whether 127.0.0.1 answers a GET with 200."""
    try:
        answer = httpx.get(f"http://127.0.0.1:{port}{path}", timeout=2, trust_env=False)
    except httpx.HTTPError:
        return False
    return answer.status_code == 200
