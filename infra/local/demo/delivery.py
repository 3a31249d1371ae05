"""The second half of the main job: from topics to a target that is compared with the source."""

import httpx

from infra.local.demo.api import Json
from infra.local.demo.changes import COUNT, make_changes
from infra.local.demo.compare import wait_until_equal
from infra.local.demo.data import TABLES, TARGET_SCHEMA
from infra.local.demo.leftovers import ENVIRONMENT
from infra.local.demo.report import DemoStep, counted, require
from infra.local.demo.run import Run, states


def register_destination(run: Run) -> None:
    """Tests the connection before anything is stored, and after."""
    with run.report.step("Test and register the destination") as step:
        database = run.target_database
        connection = {"provider": "postgresql", "config": database.config, "credentials": database.credentials}
        unsaved = run.api.post("/destinations/test-connection", connection)
        require(unsaved["success"], expected="a connection", actual=unsaved["checks"])
        body = {"name": run.named("lake"), "environment": ENVIRONMENT, **connection}
        run.destination = run.api.post("/destinations", body, status=[201])
        tested = run.api.post(f"/destinations/{run.destination['id']}/test")
        require(tested["success"], expected="a connection", actual=tested["checks"])
        step.observe(f"PostgreSQL {tested['server_version']} answered before and after it was stored")


def _delivery_body(run: Run) -> Json:
    topics = run.pipeline["topics"]
    return {
        "pipeline_id": run.pipeline["id"],
        "name": run.named("delivery"),
        "mappings": [
            {"topic": topic, "schema_name": TARGET_SCHEMA, "table_name": table.name}
            for topic, table in zip(topics, TABLES, strict=True)
        ],
    }


def preview_delivery(run: Run) -> None:
    """Topics, schema, keys, target, plug-in and config are checked. Saves nothing."""
    with run.report.step("Preview the delivery") as step:
        preview = run.api.post(f"/destinations/{run.destination['id']}/preview", _delivery_body(run))
        require(preview["validation"]["error_count"] == 0, expected="a valid config", actual=preview["validation"])
        password = preview["config"]["connection.password"]
        require(password.startswith("${headgate:"), expected="a reference as connection.password", actual=password)
        warnings = preview["warnings"]
        step.observe(f"a valid config of {len(preview['config'])} lines, {counted(len(warnings), 'warning')}")
        for warning in warnings:
            step.add_line(f"{warning['code']}: {warning['message']}")


def deploy_delivery(run: Run) -> None:
    """Creates the sink connector and the delivery."""
    with run.report.step("Deploy it") as step:
        path = f"/destinations/{run.destination['id']}/deploy"
        run.delivery = run.api.post(path, _delivery_body(run), status=[201, 202])
        run.settled(run.delivery_path)
        step.observe(states(run.observed(run.delivery_path, "RUNNING")))


def compare_snapshot(run: Run) -> None:
    """Every row that existed when the capture began."""
    with run.report.step("Compare source and target") as step:
        _compare(run, step)


def change(run: Run) -> None:
    """Changes of all kinds, while everything runs."""
    with run.report.step(f"Make {COUNT} changes in the source, add a column, and compare again") as step:
        rows = make_changes(run.source_database)
        require(rows == COUNT, expected=f"{COUNT} changed rows", actual=rows)
        _compare(run, step)


def show_config(run: Run) -> None:
    """Asks Connect itself."""
    with run.report.step("Look at the configs in Connect") as step:
        texts = []
        for noun, owner in (("source", run.pipeline), ("sink", run.delivery)):
            answer = httpx.get(f"{run.stack.connect}/connectors/{owner['connector_name']}/config", timeout=20)
            require(
                answer.status_code == 200,
                expected=f"the config of {owner['connector_name']}",
                actual=answer.status_code,
            )
            texts.append(answer.text)
            secret = {name: value for name, value in answer.json().items() if name.endswith("password")}
            require(
                bool(secret) and all(value.startswith("${headgate:") for value in secret.values()),
                expected="references in place of passwords",
                actual=sorted(secret),
            )
            step.add_line(f"{noun} connector: {', '.join(f'{name} = {value}' for name, value in secret.items())}")
        passwords = (run.source_database.password, run.target_database.password)
        leaked = any(password in text for password in passwords for text in texts)
        require(not leaked, expected="no password in any of them", actual="one")
        step.observe("references only, no password in either")


def _compare(run: Run, step: DemoStep) -> None:
    comparison = wait_until_equal(run.source_database, run.target_database)
    step.observe(f"{comparison.rows:,} rows in the source, {comparison.target_rows:,} in the target, equal in content")
    for line in comparison.per_table():
        step.add_line(line)
