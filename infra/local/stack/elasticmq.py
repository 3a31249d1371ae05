"""ElasticMQ, an SQS, with its queues and messages on disk."""

from pathlib import Path

from infra.local.process.processes import ServerPlan
from infra.local.stack import java, readiness_probes
from infra.local.stack.folders import Folders

# The keys are those of the server's own reference.conf (version 1.7.1).
_CONFIG = """\
include classpath("application.conf")
node-address {{ protocol = http, host = "127.0.0.1", port = {port}, context-path = "" }}
rest-sqs {{ enabled = true, bind-port = {port}, bind-hostname = "127.0.0.1", sqs-limits = strict }}
rest-stats.enabled = false
aws {{ region = "us-east-1", accountId = "000000000000" }}
messages-storage {{ enabled = true, uri = "jdbc:h2:{data}/messages", username = "", password = "" }}
pekko.loglevel = "INFO"
"""


def plan(libraries: Path, folders: Folders, *, port: int) -> ServerPlan:
    """SQS at http://127.0.0.1:`port`."""
    home = folders.of("sqs")
    config = home / "elasticmq.conf"
    config.write_text(_CONFIG.format(port=port, data=home))
    options = (f"-Dconfig.file={config}",)
    return ServerPlan(
        name="ElasticMQ",
        command=java.command("org.elasticmq.server.Main", classpath=libraries, heap="256m", options=options),
        folder=home,
        log=folders.log("sqs"),
        pid_file=folders.pid_file("sqs"),
        ready=lambda: bool(readiness_probes.http_text(port, "/?Action=ListQueues")),
    )
