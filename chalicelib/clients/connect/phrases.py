"""Our sentences for the texts with which Connect and Debezium refuse a config value.

These texts quote values, so they are not passed on. Sources: Kafka's ConfigDef and Connect 4.3, Debezium 3.6 (`Field`,
the configurations of the PostgreSQL and JDBC connectors). Texts about a database, which Debezium reports for
`database.hostname`, are left to the classifier.
"""

from chalicelib.domain.diagnosis.classifier import classify
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import hint_of
from chalicelib.domain.names import ConnectorKind

REFUSED = "The connector refuses this value."
MAX_TEXT = 8 * 1024

PHRASES: tuple[tuple[tuple[str, ...], str | None, str], ...] = (
    (("which has no default value", "a value is required", "must not be empty"), None, "A value is required."),
    (
        ("an integer is expected", "not a number of type", "a long value is expected"),
        None,
        "A whole number is expected.",
    ),
    (
        ("non-negative integer", "non-negative long", "positive, non-zero", "positive queue size"),
        None,
        "A positive number is expected.",
    ),
    (("value must be at least",), None, "The value is too small."),
    (("value must be no more than",), None, "The value is too large."),
    (
        ("must be larger than the maximum batch size",),
        "max.queue.size",
        "The queue must be larger than the largest batch.",
    ),
    (
        ("'true' or 'false' is expected", "expected value to be either true or false"),
        None,
        "Either true or false is expected.",
    ),
    (
        ("string must be one of", "value must be one of", "must be one of:"),
        None,
        "The value is not one that this field takes.",
    ),
    (
        ("valid replication slot name must contain",),
        "slot.name",
        "A slot name has lower-case letters, digits and underscores, at most 63 of them.",
    ),
    (
        ("has invalid format (only the underscore", "only the underscore, hyphen, dot and alphanumeric"),
        "topic.prefix",
        "Only letters, digits, dot, underscore and hyphen are allowed.",
    ),
    (("is already specified",), None, "This field cannot be combined with another one that is set."),
    (
        ("does not allow", "to be overridden in the connector"),
        None,
        "The Connect worker's override policy does not allow this setting. Allow it in the worker's configuration.",
    ),
    (
        ("failed to find any class that implements", "connector type", "could not be found", "classnotfoundexception"),
        "connector.class",
        "The Connect worker has no such class. Install the plug-in on every worker.",
    ),
    (("must configure one of topics or topics.regex",), "topics", "Topics are required."),
    (
        ("dlq topic",),
        "errors.deadletterqueue.topic.name",
        "The dead letter topic may not be one of the topics that are read.",
    ),
    (
        ("mismatched input", "invalid pattern", "not a valid regular expression", "patternsyntaxexception"),
        None,
        "The pattern is not valid.",
    ),
    (("connector name",), "name", "The connector's name is missing or not allowed."),
)
"""Phrases in lower case, any of which must occur; the field where the text names none; our sentence."""

_DATABASE_FIELD = {ConnectorKind.SOURCE: "database.hostname", ConnectorKind.SINK: "connection.url"}


def sentence_for(field: str, text: str) -> tuple[str, str | None]:
    """The field and our sentence for a text about `field` (`config`: about no field); None for an unknown text."""
    lower = text[:MAX_TEXT].casefold()
    for phrases, usual_field, sentence in PHRASES:
        if any(phrase in lower for phrase in phrases):
            return (usual_field if usual_field and field == "config" else field), sentence
    # Connectors validate a config by connecting to the database: what it says belongs to the field for its address.
    kind = ConnectorKind.SINK if field.startswith("connection.") else ConnectorKind.SOURCE
    diagnosis = classify(text[:MAX_TEXT], kind)
    if diagnosis is Diagnosis.GENERAL:
        return field, None
    return (_DATABASE_FIELD[kind] if field == "config" else field), hint_of(diagnosis, kind).message
