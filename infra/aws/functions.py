"""The deployed functions. Everything that AWS has to know about a function is its row in FUNCTIONS.

A new queue function takes two files: its row here, and its handler in `chalicelib/workers/entry.py`, which has the name
of the row and listens to the row's queue. Queue, dead-letter queue, role, policy, log group and alarms follow from
the row.

A new table takes no row here: `infra.aws.data_stack` declares every table that `chalicelib.stores.all_tables` lists.
The rows of the functions that use it name it beside the actions that they need, and each index that they query as
`table/index`. `tests/unit/infra/aws/test_*permissions.py` compare that with the calls that the code makes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from chalicelib.domain.credentials import SecretClass
from chalicelib.domain.timing import API_FUNCTION, FUNCTION
from infra.aws.parameters import API_SETTINGS, CHAT_HOSTS, Parameter

Rights = Mapping[str, str]
"""Resources by the actions that are allowed on them, both separated by spaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """The queue that a function takes its messages from.

    `concurrency`: functions that run at once. `late`: what is late when the oldest message is `late_seconds` old.
    `then`: what to do once the cause of dead letters is repaired.
    """

    name: str
    late: str
    then: str
    late_seconds: int = 900
    concurrency: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function, as Chalice knows it by its name.

    `failure`: what is wrong when it fails, for the alarm, which rises after failures in `failures` of the last periods
    of five minutes. Without a queue and a schedule it is the API's function. `in_vpc`: whether it is put into the VPC,
    if there is one. `opens`, `seals`: the secrets that it may open, and those that it may seal as well. `audit_key`:
    what it may do with the key that signs the audit trail. `reads_secrets`: whether it reads those of its settings.
    `reserved`: runs at once that the others cannot take from it; a queue's function has those of its queue.
    `anchor_copy`: whether it may read and write the copy of the trail's last anchor: `Get`, `Put`.
    """

    name: str
    failure: str
    failures: int = 1
    queue: Queue | None = None
    schedule: str = ""
    limit: timedelta = FUNCTION
    memory: int = 1024
    in_vpc: bool = True
    settings: tuple[Parameter, ...] = ()
    tables: tuple[Rights, ...]
    queues: Rights = field(default_factory=dict)
    opens: tuple[SecretClass, ...] = ()
    seals: tuple[SecretClass, ...] = ()
    audit_key: str = ""
    reads_secrets: bool = False
    reserved: int = 0
    anchor_copy: tuple[str, ...] = ()

    @property
    def concurrency(self) -> int:
        """Runs at once, where concurrency is reserved."""
        return self.reserved or (self.queue.concurrency if self.queue else 1)

    @property
    def deployed_name(self) -> str:
        """Its name in AWS, without the prefix."""
        return self.name.removesuffix("_handler").replace("_", "-")

    @property
    def stem(self) -> str:
        """The beginning of its resources' names in Chalice's template, such as RunTick in RunTickRole."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def resource(self) -> str:
        """The function itself in Chalice's template."""
        return "APIHandler" if self.name == "api_handler" else self.stem

    @property
    def seconds(self) -> int:
        """How long it may run."""
        return int(self.limit.total_seconds())

    @property
    def handler(self) -> str:
        """Where AWS Lambda finds it."""
        if self.queue:
            return f"chalicelib.workers.entry.{self.name}"
        return f"chalicelib.schedules.entry.{self.name}" if self.schedule else "app.app"


_LASTING = 2
"""A message that failed is received again, and a dispatch is followed by the next: only what lasts needs a person."""

_WAITING = 512
"""Megabytes of a function that mostly waits for answers: a processor comes with the memory, and it needs little."""

_READ, _QUERY = "BatchGetItem", "Query"
_READ_CHANGE = "BatchGetItem UpdateItem"
_READ_ADD = "BatchGetItem PutItem"
_READ_ADD_CHANGE = "BatchGetItem PutItem UpdateItem"
_READ_ADD_REMOVE = "BatchGetItem PutItem DeleteItem"
_READ_WRITE = "BatchGetItem PutItem UpdateItem DeleteItem"
_SEND = "SendMessage GetQueueUrl"
_IS_READY = "GetQueueUrl GetQueueAttributes"

_SEALED = tuple(kind for kind in SecretClass if kind is not SecretClass.AUDIT)
"""The key of the audit trail is one of KMS here, and never a stored secret."""

_RECORDS_CHANGES: Rights = {"PutItem": "audit"}
_OPENS_ALERTS: Rights = {
    "PutItem": "timeline",
    _READ_ADD_CHANGE: "alerts alert-tracks",
    _READ_ADD: "notifications",
    _READ: "progress source-states",
    _QUERY: "incidents/by_origin alerts/by_origin alerts/by_active alert-rules/by_listing "
    "notification-channels/by_listing maintenance-windows/by_open",
}

FUNCTIONS = (
    Function(
        name="api_handler",
        limit=API_FUNCTION,
        settings=(*API_SETTINGS, *CHAT_HOSTS),
        failure="The function behind the API ended with an error or ran out of time, which is never expected.",
        tables=(
            {
                _READ_WRITE: "users account-claims sessions api-tokens login-tries sources destinations connections "
                "stream-clusters connect-clusters pipelines deliveries secrets claims alert-rules "
                "notification-channels maintenance-windows",
                "GetItem PutItem UpdateItem DeleteItem": "idempotency",
                f"{_READ_WRITE} Query": "counts",
                _READ_ADD_CHANGE: "operations incidents live-reads",
                _READ_ADD: "jobs",
                f"{_READ_ADD} Query": "audit",
                f"{_READ} Query": "audit-chain",
                _READ_CHANGE: "observations source-states alerts",
                _READ: "progress channel-gates target-losses histories",
                "BatchGetItem BatchWriteItem Query": "source-tables",
                "BatchWriteItem Query": "schema-versions",
                "PutItem Query": "timeline",
            },
            {
                _QUERY: "users/by_listing sessions/by_user_id api-tokens/by_listing api-tokens/by_user_id "
                "secrets/by_listing "
                "sources/by_listing destinations/by_listing connections/by_listing schema-versions/by_history "
                "stream-clusters/by_listing connect-clusters/by_listing "
                "pipelines/by_listing pipelines/by_named_row pipelines/by_source_id pipelines/by_connect_cluster_id "
                "pipelines/by_stream_cluster_id "
                "deliveries/by_listing deliveries/by_named_row deliveries/by_destination_id deliveries/by_pipeline_id "
                "deliveries/by_connect_cluster_id "
                "incidents/by_listing incidents/by_active incidents/by_pipeline_id incidents/by_destination_id "
                "incidents/by_resource_id "
                "audit/by_trail audit/by_meaningful_trail audit/by_resource_id audit/by_parent_id "
                "alerts/by_listing alerts/by_active alerts/by_resolved alert-rules/by_listing "
                "notification-channels/by_listing notifications/by_alert_id notifications/by_open_channel "
                "maintenance-windows/by_listing maintenance-windows/by_open",
            },
        ),
        queues={
            f"{_IS_READY} SendMessage": "jobs source-checks destination-checks",
            _IS_READY: "ticks notifications",
        },
        seals=_SEALED,
        audit_key="VerifyMac",
        reads_secrets=True,
        reserved=100,
        anchor_copy=("Get",),
    ),
    Function(
        name="run_job",
        queue=Queue(
            name="jobs", concurrency=10, late="Jobs wait, such as discoveries.", then="redrive the dead letters"
        ),
        failures=_LASTING,
        failure="Jobs end with an error or run out of time. They are taken up again three times at the most.",
        tables=(
            _RECORDS_CHANGES,
            {
                _READ_CHANGE: "jobs sources",
                _READ_ADD_REMOVE: "claims",
                _READ_ADD_CHANGE: "incidents",
                _READ: "secrets deliveries",
                "BatchWriteItem Query": "source-tables",
                "BatchGetItem PutItem DeleteItem BatchWriteItem Query": "schema-versions",
                "UpdateItem": "counts",
                "PutItem": "timeline",
                _QUERY: "pipelines/by_source_id deliveries/by_pipeline_id",
            },
        ),
        queues={_SEND: "source-checks"},
        opens=(SecretClass.SOURCE, SecretClass.CONNECTION),
    ),
    Function(
        name="run_tick",
        queue=Queue(
            name="ticks", late="Connect clusters are not looked at.", then="purge the dead letters: newer ticks follow"
        ),
        failures=_LASTING,
        failure="Ticks end with an error or run out of time. What they left open is settled by later ones.",
        tables=(
            _RECORDS_CHANGES,
            _OPENS_ALERTS,
            {
                _READ_CHANGE: "sources destinations stream-clusters connect-clusters histories",
                "BatchGetItem UpdateItem DeleteItem": "pipelines",
                _READ_WRITE: "deliveries",
                _READ: "secrets source-states target-losses",
                _READ_ADD_REMOVE: "claims",
                _READ_ADD_CHANGE: "operations observations incidents",
                _READ_ADD: "progress",
                "BatchWriteItem Query": "timeline",
                "BatchGetItem Query": "source-tables",
                "UpdateItem": "counts",
                _QUERY: "operations/by_open_on_cluster pipelines/by_connect_cluster_id "
                "deliveries/by_connect_cluster_id audit/by_resource_id incidents/by_resource_id",
            },
        ),
        queues={_SEND: "notifications source-checks destination-checks"},
        opens=(SecretClass.SOURCE, SecretClass.DESTINATION, SecretClass.CONNECTION, SecretClass.CLUSTER),
    ),
    Function(
        name="run_source_check",
        queue=Queue(
            name="source-checks",
            late="Sources are not looked at.",
            then="purge the dead letters: newer looks follow",
        ),
        memory=_WAITING,
        failures=_LASTING,
        failure="Looks at sources end with an error or run out of time. What pipelines report about them grows old.",
        tables=(
            _OPENS_ALERTS,
            {
                _READ_CHANGE: "sources histories",
                _READ: "connect-clusters pipelines secrets",
                _READ_ADD_CHANGE: "source-states incidents",
                _READ_ADD_REMOVE: "claims",
                "PutItem UpdateItem DeleteItem": "counts",
                _QUERY: "pipelines/by_source_id",
            },
        ),
        queues={_SEND: "notifications"},
        opens=(SecretClass.SOURCE, SecretClass.CONNECTION),
    ),
    Function(
        name="run_destination_check",
        queue=Queue(
            name="destination-checks",
            late="Destinations are not looked at.",
            then="purge the dead letters: newer looks follow",
        ),
        memory=_WAITING,
        failures=_LASTING,
        failure="Looks at destinations end with an error or run out of time. What is known about them grows old.",
        tables=(
            _OPENS_ALERTS,
            {
                _READ_CHANGE: "destinations",
                _READ: "secrets deliveries pipelines sources stream-clusters connect-clusters progress",
                _READ_ADD_CHANGE: "incidents target-tables target-losses",
                _READ_ADD_REMOVE: "claims",
                "PutItem UpdateItem DeleteItem": "counts",
                _QUERY: "deliveries/by_destination_id",
            },
        ),
        queues={_SEND: "notifications"},
        # Kafka is asked how much was delivered, where rows were deleted.
        opens=(SecretClass.DESTINATION, SecretClass.CONNECTION, SecretClass.CLUSTER),
    ),
    Function(
        name="deliver_notifications",
        queue=Queue(
            name="notifications",
            late="Messages about alerts are late, and alerting does not alert about itself.",
            late_seconds=300,
            then="purge the dead letters: the schedule wakes every channel that has something to send",
        ),
        # It calls addresses that users write. Outside of the VPC no route leads from it to anything private, whatever
        # a name resolves to and whatever our own check of addresses overlooks.
        in_vpc=False,
        settings=CHAT_HOSTS,
        memory=_WAITING,
        failures=_LASTING,
        failure="Workers that send messages about alerts end with an error or run out of time. Messages are late.",
        tables=(
            _RECORDS_CHANGES,
            {
                _READ_CHANGE: "notifications notification-channels secrets",
                _READ_ADD_CHANGE: "channel-gates",
                _READ: "alerts",
                "UpdateItem": "counts",
                _QUERY: "notifications/by_open_channel",
            },
        ),
        queues={_SEND: "notifications"},
        seals=(SecretClass.CHANNEL,),  # a chat that has moved gets another id, which is a secret of its channel
    ),
    Function(
        name="dispatch",
        schedule="Sends every Connect cluster's ticks, looks at sources and destinations, and jobs and notifications "
        "that were lost.",
        memory=_WAITING,
        failures=_LASTING,
        failure="Connect clusters are not looked at, because the dispatcher fails.",
        tables=(
            _OPENS_ALERTS,
            {
                _READ: "sources destinations connections stream-clusters connect-clusters pipelines deliveries "
                "operations jobs "
                "observations source-states target-tables target-losses "
                "alert-rules notification-channels channel-gates maintenance-windows",
                _READ_ADD_CHANGE: "incidents",
                f"{_READ_WRITE} Query": "counts",
                "BatchWriteItem Query": "source-tables schema-versions observations",
                _READ_ADD_REMOVE: "claims",
                "PutItem": "channel-gates",
                f"{_READ_ADD} Query": "audit-chain",
                _QUERY: "audit audit/by_resource_id "
                "sources/by_listing destinations/by_listing stream-clusters/by_listing connect-clusters/by_listing "
                "pipelines/by_listing deliveries/by_listing jobs/by_open_state "
                "pipelines/by_connect_cluster_id deliveries/by_connect_cluster_id "
                "incidents/by_active incidents/by_resource_id alerts/by_active alerts/by_silenced "
                "channel-gates/by_listing notifications/by_open_channel",
            },
        ),
        queues={_SEND: "jobs ticks source-checks destination-checks notifications"},
        audit_key="GenerateMac VerifyMac",
        anchor_copy=("Get", "Put"),
    ),
    Function(
        name="reseal_secrets",
        schedule="Seals stored secrets again that are sealed under a former key.",
        memory=_WAITING,
        failure="Stored secrets cannot be sealed under the present key. Keep the former key. "
        "The log of reseal-secrets names them.",
        tables=({_QUERY: "secrets/by_listing", "UpdateItem": "secrets"},),
        seals=tuple(kind for kind in _SEALED if kind is not SecretClass.ANSWER),
    ),
)

QUEUE_FUNCTIONS = tuple((function, function.queue) for function in FUNCTIONS if function.queue)


def function_named(name: str) -> Function:
    """The row of a function, such as `run_job`. Raises KeyError."""
    return {function.name: function for function in FUNCTIONS}[name]
