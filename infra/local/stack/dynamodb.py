"""DynamoDB Local, in one file on disk."""

from pathlib import Path

from infra.local.process.processes import ServerPlan
from infra.local.stack import java, readiness_probes
from infra.local.stack.folders import Folders
from infra.local.stack.layout import POMS

# DynamoDB Local listens on every interface and has no option against it; this launcher of ours binds it to loopback.
LAUNCHER = POMS.parent / "launchers" / "LoopbackDynamoDb.java"


def plan(libraries: Path, folders: Folders, *, port: int) -> ServerPlan:
    """DynamoDB at http://127.0.0.1:`port`, one set of tables for all credentials and regions."""
    data = folders.of("dynamodb") / "data"
    data.mkdir(exist_ok=True)
    return ServerPlan(
        name="DynamoDB Local",
        command=java.command(
            str(LAUNCHER),
            *("-port", str(port), "-dbPath", str(data), "-sharedDb", "-disableTelemetry"),
            classpath=libraries,
            heap="256m",
            options=(f"-Djava.library.path={libraries}",),
        ),
        folder=folders.of("dynamodb"),
        log=folders.log("dynamodb"),
        pid_file=folders.pid_file("dynamodb"),
        ready=lambda: _lists_tables(port),
    )


def _lists_tables(port: int) -> bool:
    headers = {
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": "DynamoDB_20120810.ListTables",
        # DynamoDB Local reads the key id and the region from here and checks no signature.
        "Authorization": "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, "
        "SignedHeaders=host, Signature=0",
    }
    return bool(readiness_probes.http_text(port, "/", method="POST", body="{}", headers=headers))
