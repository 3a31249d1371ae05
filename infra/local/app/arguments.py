"""The command line of `infra/run`."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

STACKS = ("auto", "real", "sandbox")
EXTRAS = ("mysql", "minio")
DEFAULT_PORT = 8000

_ABOUT = "Set up Headgate on this machine, start it with the servers it works on, and run the demonstration."
_ONCE_HELP = "end after the demonstration: 0 when every step succeeded, 1 when a step failed, 2 when the setup failed"
_STACKS_HELP = (
    "real: a Kafka broker, Kafka Connect with Debezium, PostgreSQL, DynamoDB Local and ElasticMQ; "
    "sandbox: our doubles of the broker and Connect, and a real PostgreSQL; "
    "auto (the default): real where Java 17 and Maven are found"
)
_EXTRAS_HELP = (
    "servers to start as well, separated by commas: mysql, a MySQL 8.0 that is fetched at its first start (34 MB); "
    "minio, a MinIO that Go 1.24 or newer builds at its first start (several minutes; without Go it is moto's S3 "
    "server), and Camel's S3 sink for the real Kafka Connect (17 MB). Data of MySQL and MinIO are kept"
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """`demo`: run the demonstration; `once`: end after it; `mysql`, `minio`: start them as well."""

    once: bool
    demo: bool
    port: int
    stack: str
    mysql: bool = False
    minio: bool = False


def parse(argv: Sequence[str]) -> Options:
    """Raises SystemExit with status 2, and prints why, for options that make no sense."""
    parser = _parser()
    parsed = parser.parse_args(argv)
    if parsed.once and not parsed.demo:
        parser.error("--once runs the demonstration and ends, so it does not go with --no-demo")
    return Options(
        once=parsed.once,
        demo=parsed.demo,
        port=parsed.port,
        stack=parsed.stack,
        mysql="mysql" in parsed.extras,
        minio="minio" in parsed.extras,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="infra/run", description=_ABOUT, allow_abbrev=False)
    parser.add_argument("--once", action="store_true", help=_ONCE_HELP)
    parser.add_argument("--no-demo", dest="demo", action="store_false", help="only serve")
    parser.add_argument("--port", type=_port, default=DEFAULT_PORT, metavar="N", help="of the API (%(default)s)")
    parser.add_argument("--stack", choices=STACKS, default="auto", help=_STACKS_HELP)
    parser.add_argument("--with", dest="extras", type=_extras, default=(), metavar="NAMES", help=_EXTRAS_HELP)
    return parser


def _extras(text: str) -> Sequence[str]:
    """Names of servers, separated by commas."""
    names = [name.strip() for name in text.split(",")]
    unknown = sorted(set(names) - set(EXTRAS))
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is no server to add; choose from: {', '.join(EXTRAS)}")
    return names


def _port(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port (1 to 65535)")
    return int(text)
