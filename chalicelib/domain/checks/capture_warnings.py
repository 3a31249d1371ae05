"""What is worth knowing before a capture is created, whatever the kind of database."""

from collections.abc import Iterator

from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.pipeline import Capture, OnConversionError

KAFKA_MESSAGE_BYTES = 1024 * 1024
"""Kafka's own limit for a record, about: what brokers, producers and consumers take when nothing is configured."""


def capture_warnings(capture: Capture) -> Iterator[ConfigWarning]:
    """The warnings that follow from the options alone."""
    yield ConfigWarning(
        code="TRUNCATE_NOT_DELIVERED",
        message="A TRUNCATE of a captured table does not reach its topic: the rows stay in every target. Use DELETE.",
    )
    largest = capture.options.max_message_bytes
    if largest and largest > KAFKA_MESSAGE_BYTES:
        yield ConfigWarning(
            code="LARGE_MESSAGES",
            message="With large rows workers and consumers need more memory: several such records are kept at a time, "
            "and a row grows when it is written as JSON. The brokers have to allow the size, and topics that exist "
            "already keep their own max.message.bytes. A delivery stops at a single value of more than 20,000,000 "
            "characters.",
        )
    if capture.options.on_conversion_error is OnConversionError.NULL:
        yield ConfigWarning(
            code="VALUES_MAY_BE_NULL",
            message="A value that Debezium cannot convert arrives as NULL, and only the worker's log says so.",
        )
