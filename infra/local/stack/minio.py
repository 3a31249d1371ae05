"""MinIO, an object store with the protocol of Amazon S3."""

from pathlib import Path

from infra.local.process.processes import ServerPlan
from infra.local.stack import readiness_probes
from infra.local.stack.folders import Folders


def plan(program: Path, folders: Folders, *, port: int, key: str, secret: str) -> ServerPlan:
    """The server at http://127.0.0.1:`port`, with the key and the secret of its root user."""
    home = folders.of("minio")
    return ServerPlan(
        name="MinIO",
        command=[
            str(program.absolute()),
            "server",
            f"--address=127.0.0.1:{port}",
            str(home / "data"),
        ],
        folder=home,
        log=folders.log("s3"),
        pid_file=folders.pid_file("s3"),
        ready=lambda: readiness_probes.answers_ok(port, "/minio/health/ready"),
        environment={
            "MINIO_ROOT_USER": key,
            "MINIO_ROOT_PASSWORD": secret,
            # It makes a folder in the user's home, whatever its options say.
            "HOME": str(home),
            # No console, and no question to its makers whether there is a newer version.
            "MINIO_BROWSER": "off",
            "MINIO_UPDATE": "off",
        },
    )
