"""What tests read from an app, and change in it behind its back."""

import json
from dataclasses import replace
from typing import Any

import httpx

from chalicelib.domain.audit.record import AuditRecord
from chalicelib.domain.connector_config import INSTALLATION_KEY
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.incident import IncidentStatus
from chalicelib.domain.names import OWNER_KEY, ConnectorKind, connector_name, owner_marker
from chalicelib.domain.observation import Observation
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import HeadgateError
from chalicelib.kit.ids import new_id
from chalicelib.stores.transaction import Transaction
from infra.local.doubles.connect_traces import secrets_trace
from tests.support.apps.in_process_app import InProcessApp

Json = dict[str, Any]
WRITES = ("POST", "PUT", "DELETE")
NO_SECRETS = secrets_trace("Headgate gave no answer for secret 0: status 503")
PASSWORD_REFUSED = (
    "org.apache.kafka.connect.errors.ConnectException: Could not connect\n"
    'Caused by: org.postgresql.util.PSQLException: FATAL: password authentication failed for user "capture"'
)


def bodies(app: InProcessApp, table: str) -> list[Json]:
    """What the rows of a table hold."""
    return [json.loads(row["body"]) for row in app.tables.rows(table)]


def audited(app: InProcessApp, resource_id: str, *actions: str) -> list[AuditRecord]:
    """The audit records of a resource, of these actions or of all, the oldest first."""
    page = app.services.audit.list(limit=100, resource_id=resource_id)
    return [record for record in reversed(page.items) if record.action in actions or not actions]


def incidents(app: InProcessApp) -> list[tuple[str, IncidentStatus]]:
    """Code and status of all incidents, the oldest first."""
    found = reversed(app.services.incidents.list(limit=500).items)
    return [(incident.condition.code, incident.status) for incident in found]


def connector_writes(app: InProcessApp) -> list[tuple[str, str]]:
    """Every call that could change a connector."""
    calls = [one for method in WRITES for one in app.connect.calls.calls(method, "^/connectors")]
    return [(one.method, one.path) for one in calls]


def deploy_error_code(app: InProcessApp, pipeline_id: str) -> str | None:
    """The code with which a deploy is refused; None when it is not."""
    try:
        app.services.pipelines.deploy(app.context(), pipeline_id)
    except HeadgateError as error:
        return error.code
    return None


def create_orphan(app: InProcessApp, *, marked: bool = True, audited: bool = True, state: str = "RUNNING") -> str:
    """Create a connector with a name of ours whose resource no longer exists; returns its name.

    `marked`: it carries our marker; `audited`: the audit trail has a record of the resource.
    """
    resource_id = new_id()
    name = connector_name(ConnectorKind.SOURCE, resource_id)
    installation = {INSTALLATION_KEY: app.services.clients.installation.id}
    marker = {OWNER_KEY: owner_marker(ConnectorKind.SOURCE, resource_id), **installation} if marked else {}
    app.connect.preload([name], config=marker, state=state)
    if audited:
        app.services.audit.record_alone(app.context(), "pipeline.delete", resource_id)
    return name


def running_pipeline(app: InProcessApp) -> Pipeline:
    """A deployed pipeline on a cluster without open operations or changes."""
    pipeline = app.deployed_pipeline()
    for _ in range(4):
        app.tick()
    app.connect.calls.clear()
    return pipeline


def observation_of(app: InProcessApp, pipeline: Pipeline) -> Observation:
    seen = app.services.pipelines.get(pipeline.id).observation
    assert seen
    return seen


def change_by_hand(app: InProcessApp, owner: Pipeline | Delivery, what: str, body: Any = None) -> None:
    """Change the connector in Connect without Headgate; the call is not counted."""
    path = f"{app.connect.url}/connectors/{owner.connector_name}/{what}"
    assert httpx.put(path, json=body, trust_env=False).is_success
    app.connect.settle()
    app.connect.calls.clear()


def deployed_copies(app: InProcessApp, count: int) -> list[str]:
    """So many deployed pipelines with connectors that run, copied from one; returns the names of their connectors."""
    original, store = app.deployed_pipeline(), app.services.stores.resources.pipelines
    names = [original.connector_name]
    for number in range(count - 1):
        copy = replace(original, id=new_id(), name=f"copy {number}", config_hash=None, claims=())
        transaction = Transaction()
        store.put_new(transaction, copy)
        transaction.commit()
        marker = {OWNER_KEY: owner_marker(ConnectorKind.SOURCE, copy.id)}
        app.connect.preload([copy.connector_name], config=app.connect.config_of(original.connector_name) | marker)
        names.append(copy.connector_name)
    return names


def creations(app: InProcessApp) -> int:
    """How often Connect was asked to create a connector."""
    return len(app.connect.calls.calls("POST", "^/connectors$"))
