"""The state that the steps of one demonstration share."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from infra.local.app.addresses import StackAddresses
from infra.local.demo.api import Api, Json, wait_until
from infra.local.demo.data import DemoDatabase
from infra.local.demo.report import Report
from infra.local.doubles.notification_receivers import NotificationReceiver

if TYPE_CHECKING:
    from infra.local.doubles import Doubles


@dataclass(kw_only=True)
class Run:
    """The running demonstration. Each step adds what it made; `stamp` identifies the run.

    `messages` receives what Headgate sends to people. `doubles` are those of the sandbox, None on the real stack.
    """

    api: Api
    report: Report
    stack: StackAddresses
    doubles: "Doubles | None"
    messages: NotificationReceiver
    stamp: str
    source_database: DemoDatabase = field(init=False)
    target_database: DemoDatabase = field(init=False)
    source: Json = None
    stream: Json = None
    connect: Json = None
    pipeline: Json = None
    destination: Json = None
    delivery: Json = None
    files: Json = None
    channel: Json = None
    rule: Json = None
    alert: Json = None
    messages_seen: int = 0

    @property
    def sandbox(self) -> bool:
        """Whether Kafka and Connect are doubles."""
        return self.doubles is not None

    def named(self, noun: str) -> str:
        """A name that no other run uses."""
        return f"demo {noun} {self.stamp}"

    @property
    def pipeline_path(self) -> str:
        return f"/pipelines/{self.pipeline['id']}"

    @property
    def delivery_path(self) -> str:
        return f"/deliveries/{self.delivery['id']}"

    @property
    def files_path(self) -> str:
        """Of the delivery to object storage."""
        return f"/deliveries/{self.files['id']}"

    def settled(self, path: str) -> Json:
        """The resource, once it has no open operation."""
        return wait_until(
            lambda: self.api.get(path),
            lambda resource: resource["open_operation"] is None,
            expected=f"{path} to be settled",
        )

    def observed(self, path: str, state: str) -> Json:
        """The status once the observed state is that one."""
        return wait_until(
            lambda: self.api.get(f"{path}/status"),
            lambda status: status["observed_state"] == state,
            expected=f"{path} to be observed {state}",
        )


def states(status: Json) -> str:
    """Both states and the tasks, in words."""
    tasks = ", ".join(f"task {task['id']} {task['state']}" for task in status["tasks"]) or "no task"
    return f"desired {status['desired_state']}, observed {status['observed_state']} ({tasks})"
