"""The first half of the main job: from a database to topics."""

from infra.local.demo import mysql
from infra.local.demo import topics as demo_topics
from infra.local.demo.api import Json, wait_until
from infra.local.demo.data import HEARTBEAT, PUBLICATION, ROWS, TABLES, make_source, make_target
from infra.local.demo.leftovers import ENVIRONMENT, remove_from_headgate, remove_from_servers
from infra.local.demo.report import DemoStep, counted, require
from infra.local.demo.run import Run, states


def sign_in(run: Run, email: str, password: str) -> None:
    """As the first Admin."""
    with run.report.step("Sign in") as step:
        run.api.watch_for(password)
        run.api.post("/auth/login", {"email": email, "password": password})
        session = run.api.get("/session")
        step.observe(f"{session['user']['email']} is signed in as {session['user']['role']}")


def clear(run: Run, title: str = "Remove what earlier demonstrations left") -> None:
    """Deletes earlier demonstrations in Headgate and in the servers."""
    with run.report.step(title) as step:
        resources = remove_from_headgate(run.api)
        things = remove_from_servers(run.stack.postgres, run.stack.kafka, topics=not run.sandbox)
        things += mysql.remove_from_server(run.stack.mysql) if run.stack.mysql else 0
        removed = (
            f"{counted(resources, 'resource')} deleted through the API; {things} slots, databases, roles and topics"
        )
        step.observe(f"{removed} dropped" if resources or things else "nothing was there")


def make_databases(run: Run) -> None:
    """By hand, as the owners of two databases would."""
    with run.report.step("Make a source database and an empty target") as step:
        run.source_database = make_source(run.stack.postgres, run.stamp)
        run.target_database = make_target(run.stack.postgres, run.stamp)
        run.api.watch_for(run.source_database.password, run.target_database.password)
        step.observe(f"{ROWS:,} rows in {counted(len(TABLES), 'table')}")
        step.add_line(", ".join(f"{table.label} ({table.count})" for table in TABLES))
        step.add_line(f"{run.source_database.role} may replicate and read")
        step.add_line(f"{run.target_database.role} owns one schema of the target")


def register_source(run: Run) -> None:
    """Registers and tests it."""
    with run.report.step("Register the source and test it") as step:
        database = run.source_database
        body = {
            "name": run.named("shop"),
            "environment": ENVIRONMENT,
            "provider": "postgresql",
            "config": database.config,
            "credentials": database.credentials,
        }
        run.source = run.api.post("/sources", body, status=[201])
        credentials = run.source["credentials"]
        require(credentials["configured"], expected="stored credentials", actual=credentials)
        tested = run.api.post(f"/sources/{run.source['id']}/test")
        require(tested["success"], expected="a connection", actual=tested["checks"])
        step.observe(
            f"connected to PostgreSQL {tested['server_version']}; the password is shown as {credentials['mask']}"
        )


def discover(run: Run) -> None:
    """A durable job over the queue."""
    with run.report.step("Discover its tables") as step:
        path = f"/sources/{run.source['id']}"
        started = run.api.post(f"{path}/discover")
        job = wait_until(
            lambda: run.api.get(f"/jobs/{started['id']}"),
            lambda job_now: job_now["status"] in ("COMPLETED", "FAILED"),
            expected="a finished job",
        )
        require(job["status"] == "COMPLETED", expected="a COMPLETED job", actual=job)
        tables = {(row["schema_name"], row["table_name"]): row for row in run.api.every(f"{path}/tables")}
        for table in TABLES:
            discovered = tables.get((table.schema, table.name))
            require(
                discovered is not None
                and discovered["cdc_ready"]
                and discovered["primary_key_columns"] == list(table.key),
                expected=f"{table.label} ready for capture, with the key {', '.join(table.key)}",
                actual=discovered,
            )
        hints = sum(len(row["cdc_issues"]) for row in tables.values())
        step.observe(f"{counted(len(tables), 'table')}, all ready for capture, keys known")
        step.add_line(f"{counted(hints, 'hint')} on values that would change, such as NaN in a double precision column")


def judge_source(run: Run) -> None:
    """Without a pipeline: the server, the role and the tables."""
    with run.report.step("Judge whether the source is ready") as step:
        step.observe(_readiness(run, step, "READY", "WARNING"))


def register_clusters(run: Run) -> None:
    """Uses clusters that an earlier run, or a person, has registered for the same servers."""
    with run.report.step("Register the Kafka and Connect clusters") as step:
        streams = [
            cluster for cluster in run.api.every("/stream/clusters") if cluster["bootstrap_servers"] == run.stack.kafka
        ]
        stream = {
            "name": run.named("Kafka"),
            "bootstrap_servers": run.stack.kafka,
            "metrics_provider": "consumer-groups",
        }
        run.stream = streams[0] if streams else run.api.post("/stream/clusters", stream, status=[201])
        same = [
            cluster
            for cluster in run.api.every("/connect/clusters")
            if cluster["base_url"] == run.stack.connect and cluster["stream_cluster_id"] == run.stream["id"]
        ]
        body = {"name": run.named("Connect"), "base_url": run.stack.connect, "stream_cluster_id": run.stream["id"]}
        run.connect = same[0] if same else run.api.post("/connect/clusters", body, status=[201])
        plugins = run.api.get(f"/connect/clusters/{run.connect['id']}/plugins")
        require(bool(plugins), expected="installed plug-ins", actual=plugins)
        origin = "as registered before" if streams and same else "registered"
        step.observe(f"{origin}; Connect {run.connect['connect_version']} with {counted(len(plugins), 'plug-in')}")


def _pipeline_body(run: Run) -> Json:
    return {
        "name": run.named("pipeline"),
        "source_id": run.source["id"],
        "stream_cluster_id": run.stream["id"],
        "connect_cluster_id": run.connect["id"],
        "topic_prefix": f"{demo_topics.PREFIX}{run.stamp}",
        "tables": [{"schema_name": table.schema, "table_name": table.name} for table in TABLES],
        "options": {"publication_mode": "existing", "publication_name": PUBLICATION, "heartbeat_table": HEARTBEAT},
    }


def preview_pipeline(run: Run) -> None:
    """The config for Connect. Saves nothing."""
    with run.report.step("Preview the pipeline") as step:
        preview = run.api.post("/pipelines/preview", _pipeline_body(run))
        require(preview["validation"]["error_count"] == 0, expected="a valid config", actual=preview["validation"])
        stored = [pipeline for pipeline in run.api.every("/pipelines") if pipeline["name"] == run.named("pipeline")]
        require(not stored, expected="nothing stored by a preview", actual=stored)
        password = preview["config"]["database.password"]
        require(password.startswith("${headgate:"), expected="a reference as database.password", actual=password)
        step.observe(f"a valid config of {len(preview['config'])} lines for {counted(len(preview['topics']), 'topic')}")
        step.add_line(f"database.password = {password}")


def create_pipeline(run: Run) -> None:
    """Validated with Connect and stored as a draft."""
    with run.report.step("Create it") as step:
        run.pipeline = run.api.post("/pipelines", _pipeline_body(run), status=[201])
        status = run.api.get(f"{run.pipeline_path}/status")
        require(
            (status["desired_state"], status["observed_state"]) == ("DRAFT", "NOT_DEPLOYED"),
            expected="a draft that is not deployed",
            actual=states(status),
        )
        step.observe(states(status))
        verdict = _readiness(run, step, "READY", pipeline_id=run.pipeline["id"])
        step.add_line(f"the source, judged for this pipeline: {verdict}")


def deploy_pipeline(run: Run) -> None:
    """Deploys it twice: the second time changes nothing."""
    with run.report.step("Deploy it") as step:
        run.api.post(f"{run.pipeline_path}/deploy")
        run.settled(run.pipeline_path)
        run.api.post(f"{run.pipeline_path}/deploy", status=[200])
        status = run.observed(run.pipeline_path, "RUNNING")
        step.observe(f"{states(status)}; a second deploy changed nothing")


def fill_topics(run: Run) -> None:
    """Counts the records in the broker's topics."""
    topics: list[str] = run.pipeline["topics"]
    expected_counts = {topic: 0 if run.sandbox else table.count for topic, table in zip(topics, TABLES, strict=True)}
    with run.report.step("Look into the topics") as step:
        counts = wait_until(
            lambda: demo_topics.records(run.stack.kafka, topics),
            lambda counts_now: all(counts_now.get(topic, -1) >= count for topic, count in expected_counts.items()),
            expected=f"topics with at least {expected_counts} records",
        )
        if run.sandbox:
            step.observe(
                f"{counted(len(counts), 'topic')} made by the source connector's double, which writes no records"
            )
        else:
            step.observe(f"{counted(sum(counts.values()), 'record')} in {counted(len(counts), 'topic')}")
        for topic, count in counts.items():
            step.add_line(f"{topic}: {count:,}")


def _readiness(run: Run, step: DemoStep, *accepted: str, **query: str) -> str:
    """The verdict in words, with a line for each check that did not pass. Raises StepFailed unless it is accepted."""
    verdict = run.api.get(f"/sources/{run.source['id']}/cdc-readiness", **query)
    notable = [
        f"{check['key']} {check['status']}: {check['current_value']} (expected: {check['expected_value']})"
        for check in verdict["checks"]
        if check["status"] != "pass"
    ]
    require(verdict["status"] in accepted, expected=" or ".join(accepted), actual=f"{verdict['status']}, {notable}")
    for line in notable:
        step.add_line(line)
    passed = len(verdict["checks"]) - len(notable)
    return f"{verdict['status']}, {passed} of {counted(len(verdict['checks']), 'check')} passed"
