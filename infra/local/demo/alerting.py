"""An alert from its beginning to its end: a constraint stops the delivery, and people hear of both."""

from typing import cast

from psycopg.sql import SQL, Identifier

from infra.local.demo.api import Json, wait_until
from infra.local.demo.control import require_arrival
from infra.local.demo.data import TABLES, TARGET_SCHEMA, insert
from infra.local.demo.leftovers import ENVIRONMENT, delete
from infra.local.demo.report import DemoStep, require
from infra.local.demo.run import Run

_CONSTRAINT = "headgate_demo_no_more"
_FIRST_REFUSED, _LAST_REFUSED = 4001, 4010
_TRACE = (
    "org.apache.kafka.connect.errors.ConnectException: Exiting WorkerSinkTask due to unrecoverable exception.\n"
    "Caused by: org.postgresql.util.PSQLException: "
    f'ERROR: new row for relation "customers" violates check constraint "{_CONSTRAINT}"\n'
)
"""The trace of a real sink's task: in the sandbox no row reaches the target, so none is refused."""


def register_channel(run: Run) -> None:
    """A channel, a test of it, and a rule that sends it the alerts of the pipeline."""
    with run.report.step("Register a notification channel, test it, and name it in a rule") as step:
        token = f"demo-token-{run.stamp}"
        run.api.watch_for(token)
        config = {"webhook_url": f"{run.messages.url}/services/{token}"}
        body = {"name": f"{ENVIRONMENT} {run.stamp}", "provider": "chat-webhook", "config": config}
        run.channel = run.api.post("/notification-channels", body, status=[201])
        tested = run.api.post(f"/notification-channels/{run.channel['id']}/test")
        require(tested["delivered"], expected="a delivered test notification", actual=tested)
        rule = {"name": body["name"], "channel_ids": [run.channel["id"]], "pipeline_ids": [run.pipeline["id"]]}
        run.rule = run.api.post("/alert-rules", rule, status=[201])
        step.observe("delivered, and a rule for the pipeline")
        step.add_line(f"the receiver got: {_next_message(run)}")


def break_delivery(run: Run) -> None:
    """The owner of the target adds a constraint, and rows that it refuses arrive."""
    with run.report.step("Let a constraint of the target stop the delivery, and wait for the message") as step:
        if run.doubles:
            run.doubles.connect_double.fail_task(run.delivery["connector_name"], _TRACE)
        else:
            _constrain(run, "ADD CONSTRAINT {} CHECK (id < {}) NOT VALID")
            with run.source_database.as_superuser() as connection:
                insert(connection, TABLES[0], _FIRST_REFUSED, _LAST_REFUSED)
        (run.alert,) = wait_until(
            lambda: run.api.get("/alerts", status="active", pipelineId=run.pipeline["id"])["items"],
            lambda alerts: [alert["connector_name"] for alert in alerts] == [run.delivery["connector_name"]],
            expected="one alert, about the delivery",
        )
        kind, severity = run.alert["event_type"], run.alert["severity"]
        require(kind == "DESTINATION_WRITE_FAILED", expected="DESTINATION_WRITE_FAILED", actual=run.alert)
        step.observe(f"{kind}, {severity}, {run.alert['status']}")
        _show_message(run, step)


def repair_delivery(run: Run) -> None:
    """The owner drops the constraint, a person restarts the delivery, and Headgate resolves the alert."""
    with run.report.step("Drop the constraint, restart the delivery, and wait for the recovery") as step:
        if not run.doubles:
            _constrain(run, "DROP CONSTRAINT {}")
        run.api.post(f"{run.delivery_path}/restart")
        run.settled(run.delivery_path)
        run.observed(run.delivery_path, "RUNNING")
        require_arrival(run, step)
        path = f"/alerts/{run.alert['id']}"
        over = wait_until(
            lambda: run.api.get(path), lambda alert: alert["status"] == "resolved", expected="the alert to be resolved"
        )
        step.observe(f"resolved after {over['recovery_seconds']:.0f} s")
        _show_message(run, step)
        ends = wait_until(
            lambda: [message["status"] for message in run.api.get(path)["deliveries"]],
            lambda statuses: "queued" not in statuses,
            expected="no message that waits",
        )
        require(ends == ["delivered", "delivered"], expected="two delivered messages", actual=ends)
        delete(run.api, f"/alert-rules/{run.rule['id']}")
        delete(run.api, f"/notification-channels/{run.channel['id']}")


def _constrain(run: Run, change: str) -> None:
    table = Identifier(TARGET_SCHEMA, TABLES[0].name)
    statement = SQL("ALTER TABLE {} ").format(table) + SQL(change).format(Identifier(_CONSTRAINT), _FIRST_REFUSED)
    with run.target_database.as_superuser() as connection:
        connection.execute(statement)


def _show_message(run: Run, step: DemoStep) -> None:
    message = _next_message(run)
    require(run.delivery["connector_name"] in message, expected="a message about the delivery", actual=message)
    step.add_line("the receiver got:")
    for line in message.splitlines():
        step.add_line(line)


def _next_message(run: Run) -> str:
    """The next message of the receiver."""
    texts: Json = wait_until(
        run.messages.texts, lambda texts_now: len(texts_now) > run.messages_seen, expected="a message at the receiver"
    )
    run.messages_seen += 1
    return cast("str", texts[run.messages_seen - 1])
