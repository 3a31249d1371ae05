"""Moto's S3, for machines where MinIO cannot be had: it checks neither keys nor signatures, and stores in memory."""

import sys

from infra.local.process.processes import ServerPlan
from infra.local.stack import readiness_probes
from infra.local.stack.folders import Folders


def plan(folders: Folders, *, port: int) -> ServerPlan:
    """The server at http://127.0.0.1:`port`."""
    return ServerPlan(
        name="S3 (moto)",
        command=[sys.executable, "-m", "moto.server", "--host=127.0.0.1", f"--port={port}"],
        folder=folders.of("moto"),
        log=folders.log("s3"),
        pid_file=folders.pid_file("s3"),
        ready=lambda: readiness_probes.answers_ok(port, "/moto-api/"),
    )
