"""Camel's S3 sink, as a plug-in for Kafka Connect: the S3 sink that Maven Central has."""

from pathlib import Path
from zipfile import ZipFile, ZipInfo

from infra.local.stack.fetch import CAMEL, fetch, fill, locked_cache

SINK = "org.apache.camel.kafkaconnector.CamelSinkConnector"

# The name that Kafka's own tool for this, connect-plugin-path.sh, gives to such a jar (KIP-898).
_MANIFEST_JAR = "connect-plugin-path-shim-1.0.0.jar"
_MANIFEST = "META-INF/services/org.apache.kafka.connect.sink.SinkConnector"


def plugins() -> Path:
    """The folder for Connect's plug-in path, fetched if it is not there yet. Raises SetupMissing."""
    with locked_cache() as cache:
        jars = fetch(CAMEL, cache)
        folder = cache / jars.name.replace("camel-", "camel-plugin-")
        return folder if folder.is_dir() else fill(folder, "Camel's S3 sink", lambda work: _assemble(jars, work))


def _assemble(jars: Path, into: Path) -> None:
    """Puts the jars into a folder of their own, with the service manifest that they lack.

    Without one, Connect finds the sink only in a scan of all classes, which makes every start slow.
    """
    plugin = into / "camel-aws2-s3"
    plugin.mkdir()
    for jar in jars.glob("*.jar"):
        (plugin / jar.name).hardlink_to(jar)
    with ZipFile(plugin / _MANIFEST_JAR, "w") as archive:
        archive.writestr(ZipInfo(_MANIFEST), SINK + "\n")
