"""To object storage, where the run has started a store: the topic with the fewest rows, as files that are read back."""

from urllib.parse import urlsplit

from infra.local.demo import topics as demo_topics
from infra.local.demo.api import Json, wait_until
from infra.local.demo.data import TABLES
from infra.local.demo.leftovers import ENVIRONMENT
from infra.local.demo.report import counted, require
from infra.local.demo.run import Run, states
from infra.local.stack import s3

_TABLE = min(range(len(TABLES)), key=lambda at: TABLES[at].count)


def steps(run: Run) -> None:
    """All of them; nothing where the run has no store."""
    if run.stack.s3 is None:
        return
    destination = register(run, run.stack.s3)
    deploy(run, destination)
    if not run.sandbox:
        read_back(run, run.stack.s3)


def register(run: Run, url: str) -> Json:
    """Tests the bucket before anything is stored: an object is put and deleted."""
    with run.report.step("Test and register a bucket") as step:
        store = urlsplit(url)
        run.api.watch_for(str(store.password))
        connection = {
            "provider": "minio",
            "config": {
                "bucket": store.path.strip("/"),
                "prefix": _prefix(run),
                "endpoint_url": f"http://{store.hostname}:{store.port}",
            },
            "credentials": {"access_key_id": store.username, "secret_access_key": store.password},
        }
        tested = run.api.post("/destinations/test-connection", connection)
        require(tested["success"], expected="a bucket that can be written", actual=tested["checks"])
        body = {"name": run.named("files"), "environment": ENVIRONMENT, **connection}
        destination = run.api.post("/destinations", body, status=[201])
        step.observe(f"{counted(len(tested['checks']), 'check')} passed")
        for check in tested["checks"]:
            step.add_line(f"{check['name']}: {check['message']}")
        return destination


def deploy(run: Run, destination: Json) -> None:
    """Previews the delivery, and makes its sink."""
    with run.report.step("Deliver a topic to it as files") as step:
        path = f"/destinations/{destination['id']}"
        body = {
            "pipeline_id": run.pipeline["id"],
            "name": run.named("files"),
            "mappings": [{"topic": run.pipeline["topics"][_TABLE]}],
            "compression": "none",
        }
        preview = run.api.post(f"{path}/preview", body)
        require(preview["validation"]["error_count"] == 0, expected="a valid config", actual=preview["validation"])
        run.files = run.api.post(f"{path}/deploy", body, status=[201, 202])
        run.settled(run.files_path)
        step.observe(states(run.observed(run.files_path, "RUNNING")))
        step.add_line(f"plug-in: {run.files['plugin']['class']}")
        for warning in preview["warnings"]:
            step.add_line(f"{warning['code']}: {warning['message']}")


def read_back(run: Run, url: str) -> None:
    """Each record of the topic is a line of a file."""
    with run.report.step("Read the files back, and compare them with the topic") as step:
        records = set(demo_topics.values(run.stack.kafka, run.files["topics"][0]))
        found = wait_until(
            lambda: _files(url, _prefix(run)),
            lambda files: _lines(files) == records,
            expected=f"{len(records)} records as lines",
        )
        step.observe(f"{counted(len(records), 'record')}, each a line of {counted(len(found), 'file')}")


def _prefix(run: Run) -> str:
    return f"demo/{run.stamp}"


def _files(url: str, prefix: str) -> list[bytes]:
    """The content of each file below the prefix."""
    place = urlsplit(url)
    bucket = place.path.strip("/")
    store = s3.client(place.port or 80, str(place.username), str(place.password))
    pages = store.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{prefix}/")
    keys = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
    return [store.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys]


def _lines(files: list[bytes]) -> set[str]:
    return {line for file in files for line in file.decode().splitlines() if line}
