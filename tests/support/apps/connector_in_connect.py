"""A connector as Kafka Connect has it, for a test that looks at it, or changes it, without Headgate."""

from dataclasses import dataclass
from typing import Any

import httpx

from tests.support.waiting import eventually


@dataclass(frozen=True)
class ConnectorInConnect:
    """`url` is where Kafka Connect answers, `name` is the connector's."""

    url: str
    name: str

    def call(self, method: str, action: str) -> Any:
        """A call about the connector; the body of its answer."""
        response = httpx.request(method, f"{self.url}/connectors/{self.name}/{action}", timeout=30, trust_env=False)
        assert response.is_success, response.text[:2000]
        return response.json() if response.content else None

    @property
    def config(self) -> dict[str, str]:
        return dict(self.call("GET", "config"))

    def stop(self) -> None:
        """Somebody stops it."""
        self.call("PUT", "stop")
        eventually(lambda: self.call("GET", "status")["tasks"], lambda tasks: not tasks)

    def start_again(self) -> None:
        """As at the start of a worker, its task begins anew."""
        self.call("POST", "restart?includeTasks=true")

    def stored(self) -> dict[str, Any]:
        """The offset that Connect has stored; empty without one."""
        offsets = self.call("GET", "offsets")["offsets"]
        return dict(offsets[0]["offset"] or {}) if offsets else {}

    def until_failed(self) -> str:
        """Waits until the task has failed; its trace."""
        failed = eventually(
            lambda: [task for task in self.call("GET", "status")["tasks"] if task["state"] == "FAILED"], seconds=90
        )
        return str(failed[0]["trace"])
