"""Headgate's REST API as the demonstration uses it: signed in, each answer searched for passwords."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import httpx

from infra.local.demo.report import StepFailed

Json = Any
BOUND_SECONDS = 90.0
"""The longest that a step waits for something to become true."""


class Api:
    """A client with a session. Every mutation carries the correlation id that a session needs."""

    def __init__(self, url: str, *, correlation_id: str) -> None:
        self.correlation_id = correlation_id
        self.answers = 0
        self.leaks: list[str] = []
        self._secrets: set[str] = set()
        self._client = httpx.Client(
            base_url=f"{url}/api/v1",
            headers={"X-Correlation-ID": correlation_id},
            timeout=httpx.Timeout(40.0),
            trust_env=False,
        )

    def close(self) -> None:
        self._client.close()

    def watch_for(self, *secrets: str) -> None:
        """Values that no answer may contain."""
        self._secrets.update(secrets)

    def get(self, path: str, **query: str | int) -> Json:
        """The answer of a GET. Raises StepFailed when it is not 200."""
        return self._send("GET", path, (200,), params=query)

    def post(self, path: str, body: Mapping[str, Any] | None = None, *, status: Sequence[int] = (200, 202)) -> Json:
        """The answer of a POST. Raises StepFailed when its status is none of `status`."""
        return self._send("POST", path, status, json=body) if body is not None else self._send("POST", path, status)

    def delete(self, path: str) -> Json:
        """The answer of a DELETE: None, or the resource with its open operation."""
        return self._send("DELETE", path, (202, 204))

    def every(self, path: str) -> Iterator[Json]:
        """All entries of a list, page after page."""
        query: dict[str, str] = {}
        while True:
            response = self._answer("GET", path, (200,), params=query)
            yield from response.json()
            if not (cursor := response.headers.get("X-Next-Cursor")):
                return
            query = {"cursor": cursor}

    def _send(self, method: str, path: str, status: Sequence[int], **arguments: Any) -> Json:
        response = self._answer(method, path, status, **arguments)
        return response.json() if response.content else None

    def _answer(self, method: str, path: str, status: Sequence[int], **arguments: Any) -> httpx.Response:
        request = f"{method} /api/v1{path}"
        try:
            response = self._client.request(method, path, **arguments)
        except httpx.HTTPError as error:
            raise StepFailed(expected=f"an answer to {request}", actual=type(error).__name__) from error
        self.answers += 1
        if any(secret in response.text for secret in self._secrets):
            self.leaks.append(request)
        if response.status_code not in status:
            statuses = " or ".join(str(number) for number in status)
            raise StepFailed(
                expected=f"{statuses} from {request}", actual=f"{response.status_code} {response.text[:1500]}"
            )
        return response


def wait_until(read: Callable[[], Json], holds: Callable[[Json], bool], *, expected: str) -> Json:
    """Reads repeatedly until the value holds, and returns it. Raises StepFailed after BOUND_SECONDS."""
    until = time.monotonic() + BOUND_SECONDS
    while True:
        value = read()
        if holds(value):
            return value
        if time.monotonic() > until:
            raise StepFailed(expected=f"{expected} within {BOUND_SECONDS:.0f} s", actual=str(value)[:1500])
        time.sleep(0.3)
