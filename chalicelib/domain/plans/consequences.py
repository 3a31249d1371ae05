"""Everything that can follow from a call: the one table of codes, with what each says.

A sentence is left out when a fact in it is not known (null). `{name:size}` writes bytes, `{name:duration}` seconds,
`{name:names}` a list, `{name:,}` a number, `{name:table is|tables are}` a number with the words for one or for several.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from string import Formatter
from typing import Any, NamedTuple

from chalicelib.domain.names import name_list
from chalicelib.domain.plans.plan import Consequence, ConsequenceSeverity
from chalicelib.kit.readable import readable_duration, readable_size


class ConsequenceCode(StrEnum):
    """What can follow from a call. Previews have warnings with codes of their own, which dry runs show too."""

    NOTHING_CHANGES = "NOTHING_CHANGES"
    CAPTURE_PAUSES = "CAPTURE_PAUSES"
    LOG_IS_KEPT = "LOG_IS_KEPT"
    CAPTURE_CONTINUES = "CAPTURE_CONTINUES"
    DELIVERY_PAUSES = "DELIVERY_PAUSES"
    RECORDS_WAIT = "RECORDS_WAIT"
    DELIVERY_CONTINUES = "DELIVERY_CONTINUES"
    CONNECTOR_RESTARTS = "CONNECTOR_RESTARTS"
    TASK_RESTARTS = "TASK_RESTARTS"
    CONFIG_IS_WRITTEN = "CONFIG_IS_WRITTEN"
    RECORDS_MAY_REPEAT = "RECORDS_MAY_REPEAT"
    REPEATS_ARE_ABSORBED = "REPEATS_ARE_ABSORBED"
    ROWS_MAY_REPEAT = "ROWS_MAY_REPEAT"
    CONNECTOR_IS_CREATED = "CONNECTOR_IS_CREATED"
    MADE_IN_SOURCE = "MADE_IN_SOURCE"
    TOPICS_ARE_MADE = "TOPICS_ARE_MADE"
    SNAPSHOT_READS_TABLES = "SNAPSHOT_READS_TABLES"
    SNAPSHOT_LOCKS = "SNAPSHOT_LOCKS"
    NO_SNAPSHOT = "NO_SNAPSHOT"
    READS_FROM_BEGINNING = "READS_FROM_BEGINNING"
    TABLES_ARE_MADE = "TABLES_ARE_MADE"
    TABLES_ARE_WRITTEN = "TABLES_ARE_WRITTEN"
    FILES_ARE_WRITTEN = "FILES_ARE_WRITTEN"
    OFFSETS_ARE_KEPT = "OFFSETS_ARE_KEPT"
    CONFIG_IS_NOT_VALIDATED = "CONFIG_IS_NOT_VALIDATED"
    CHANGES_ARE_LOST = "CHANGES_ARE_LOST"
    POSITION_IS_LOST = "POSITION_IS_LOST"
    DRAFT_IS_DELETED = "DRAFT_IS_DELETED"
    STAYS_IN_SOURCE = "STAYS_IN_SOURCE"
    KEPT_IN_SOURCE = "KEPT_IN_SOURCE"
    RELEASED_IN_SOURCE = "RELEASED_IN_SOURCE"
    NOT_RELEASED_IN_SOURCE = "NOT_RELEASED_IN_SOURCE"
    TOPICS_STAY = "TOPICS_STAY"
    OWN_TOPICS_STAY = "OWN_TOPICS_STAY"
    OWN_TOPICS_ARE_DELETED = "OWN_TOPICS_ARE_DELETED"
    ROWS_STAY = "ROWS_STAY"
    CONNECTOR_MAY_BE_LEFT = "CONNECTOR_MAY_BE_LEFT"
    CREDENTIALS_ARE_DELETED = "CREDENTIALS_ARE_DELETED"
    INCIDENTS_END = "INCIDENTS_END"
    CONNECTORS_OUTDATED = "CONNECTORS_OUTDATED"
    TABLES_ARE_FORGOTTEN = "TABLES_ARE_FORGOTTEN"
    TOPIC_IS_DELETED = "TOPIC_IS_DELETED"
    SENDS_NOTHING = "SENDS_NOTHING"
    ALERTS_ARE_HELD_BACK = "ALERTS_ARE_HELD_BACK"
    ALERTS_ARE_SENT_AGAIN = "ALERTS_ARE_SENT_AGAIN"


class _Entry(NamedTuple):
    severity: ConsequenceSeverity
    sentences: Sequence[str]


_INFO, _WARN, _INTERRUPTS, _LOSES = (
    ConsequenceSeverity.INFO,
    ConsequenceSeverity.WARN,
    ConsequenceSeverity.INTERRUPTS,
    ConsequenceSeverity.LOSES,
)
_C = ConsequenceCode

NO_WORDS: Mapping[str, str | None] = {}

TABLE: Mapping[ConsequenceCode, _Entry] = {
    _C.NOTHING_CHANGES: _Entry(_INFO, ["It is so already: nothing happens."]),
    _C.CAPTURE_PAUSES: _Entry(_INTERRUPTS, ["No change reaches Kafka until the pipeline is resumed."]),
    _C.LOG_IS_KEPT: _Entry(
        _WARN,
        [
            "{notice}",
            "Kept for the {kept_by} {name} now: {retained_bytes:size}.",
            "It grows by {bytes_per_second:size} a second.",
            "At this rate changes are lost in {seconds_to_loss:duration}.",
        ],
    ),
    _C.CAPTURE_CONTINUES: _Entry(
        _INFO,
        [
            "The capture goes on where it was paused.",
            "{retained_bytes:size} of the source's log are still to be read.",
        ],
    ),
    _C.DELIVERY_PAUSES: _Entry(_INTERRUPTS, ["Nothing is written to the destination until the delivery is resumed."]),
    _C.RECORDS_WAIT: _Entry(
        _WARN,
        [
            (
                "Records wait in Kafka meanwhile. Those that the retention of a topic removes before that are never "
                "delivered."
            ),
            "{lag:record waits|records wait} now.",
        ],
    ),
    _C.DELIVERY_CONTINUES: _Entry(
        _INFO, ["The delivery goes on where it was paused.", "{lag:record waits|records wait} for it."]
    ),
    _C.CONNECTOR_RESTARTS: _Entry(
        _INTERRUPTS, ["The connector restarts with all of its tasks: for some seconds no rows move."]
    ),
    _C.TASK_RESTARTS: _Entry(_INTERRUPTS, ["The task restarts: for some seconds it moves no rows."]),
    _C.CONFIG_IS_WRITTEN: _Entry(
        _INTERRUPTS, ["The connector gets another config and restarts with it: for some seconds no rows move."]
    ),
    _C.RECORDS_MAY_REPEAT: _Entry(
        _WARN,
        [
            (
                "Up to {max_records:record|records} may come to a topic twice. Deliveries that upsert absorb that, "
                "those that insert write twice."
            ),
        ],
    ),
    _C.REPEATS_ARE_ABSORBED: _Entry(
        _INFO,
        ["Up to {max_records:record|records} may be delivered twice. Rows are written by key, so none is doubled."],
    ),
    _C.ROWS_MAY_REPEAT: _Entry(
        _WARN, ["Records that were delivered since the last commit may be written twice.", "{max_records:,} at most."]
    ),
    _C.CONNECTOR_IS_CREATED: _Entry(_INFO, ["{which} is created in Kafka Connect and started."]),
    _C.MADE_IN_SOURCE: _Entry(_INFO, ["The connector makes in the source, if it is missing: {made:names}."]),
    _C.TOPICS_ARE_MADE: _Entry(
        _INFO,
        [
            "It writes to {topics:topic|topics} of tables.",
            "Beside these it writes to {beside}.",
            "Topics that are missing are made.",
        ],
    ),
    _C.SNAPSHOT_READS_TABLES: _Entry(
        _WARN,
        [
            "A snapshot reads {tables:table|tables} first.",
            "To read: about {estimated_rows:row|rows}.",
            "Their size: about {estimated_bytes:size}.",
        ],
    ),
    _C.SNAPSHOT_LOCKS: _Entry(_WARN, ["{notice}"]),
    _C.NO_SNAPSHOT: _Entry(_INFO, ["No snapshot is taken: rows that exist now do not come, only changes from now on."]),
    _C.READS_FROM_BEGINNING: _Entry(
        _INFO,
        ["The delivery reads {topics:topic|topics} from the beginning: everything that Kafka still holds is written."],
    ),
    _C.TABLES_ARE_MADE: _Entry(_INFO, ["{tables:table is|tables are} written, and made where missing: {names:names}."]),
    _C.TABLES_ARE_WRITTEN: _Entry(_INFO, ["{tables:table is|tables are} written: {names:names}."]),
    _C.FILES_ARE_WRITTEN: _Entry(_INFO, ["Files are written for {topics:topic|topics}: {names:names}."]),
    _C.OFFSETS_ARE_KEPT: _Entry(
        _WARN,
        ["Offsets are kept and nothing is backfilled: what was delivered before is not written to the new targets."],
    ),
    _C.CONFIG_IS_NOT_VALIDATED: _Entry(
        _INFO,
        [
            (
                "Kafka Connect is not asked about the config here: for that it has to be granted the secrets to which "
                "the config refers, and this look grants nothing. It validates the config when this is carried out. A "
                "preview lets it do so before."
            ),
        ],
    ),
    _C.CHANGES_ARE_LOST: _Entry(
        _LOSES,
        ["Changes that were lost are accepted: the capture goes on without them and without a snapshot.", "{known}"],
    ),
    _C.POSITION_IS_LOST: _Entry(
        _LOSES,
        ["The position of the connector is lost: one that is made later does not go on where this one has ended."],
    ),
    _C.DRAFT_IS_DELETED: _Entry(_INFO, ["It was never deployed: there is no connector and no position."]),
    _C.STAYS_IN_SOURCE: _Entry(
        _WARN,
        [
            (
                "The {kind} {name} stays in the source, and the source keeps its log for it until this is run there: "
                "{statement}"
            ),
        ],
    ),
    _C.KEPT_IN_SOURCE: _Entry(_INFO, ["Stays in the source: {names:names}."]),
    _C.RELEASED_IN_SOURCE: _Entry(_LOSES, ["The {kind} {name} is dropped in the source."]),
    _C.NOT_RELEASED_IN_SOURCE: _Entry(
        _WARN, ["The {kind} {name} was there before the pipeline, so it is not dropped. To drop it: {statement}"]
    ),
    _C.TOPICS_STAY: _Entry(_INFO, ["{topics:topic stays|topics stay} in Kafka with all records: {names:names}."]),
    _C.OWN_TOPICS_STAY: _Entry(_INFO, ["The topics that the connector keeps for itself stay too: {names:names}."]),
    _C.OWN_TOPICS_ARE_DELETED: _Entry(
        _LOSES, ["The topics that the connector keeps for itself are deleted: {names:names}."]
    ),
    _C.ROWS_STAY: _Entry(_INFO, ["What was written stays in the destination."]),
    _C.CONNECTOR_MAY_BE_LEFT: _Entry(
        _WARN,
        [
            (
                "Kafka Connect is not asked: the connector {connector_name} may be left there and go on. Headgate "
                "removes it when this Connect cluster answers again."
            ),
        ],
    ),
    _C.CREDENTIALS_ARE_DELETED: _Entry(_LOSES, ["Its stored secrets are deleted."]),
    _C.INCIDENTS_END: _Entry(_INFO, ["Its incidents and alerts end."]),
    _C.CONNECTORS_OUTDATED: _Entry(
        _WARN,
        [
            (
                "{count:deployed connector keeps|deployed connectors keep} the former address or secrets until the "
                "config is sent again: {names:names}. Deploy pipelines again, and send the mappings of deliveries "
                "again."
            ),
        ],
    ),
    _C.TABLES_ARE_FORGOTTEN: _Entry(
        _WARN,
        ["Removed, because of the former place: {tables:discovered table|discovered tables}. Run discovery again."],
    ),
    _C.TOPIC_IS_DELETED: _Entry(_LOSES, ["The topic and all of its records are deleted."]),
    _C.SENDS_NOTHING: _Entry(_WARN, ["The rule names no channel, so it sends nothing."]),
    _C.ALERTS_ARE_HELD_BACK: _Entry(
        _WARN, ["Alerts in its scope are kept and not sent while it lasts. What still fires at its end is sent."]
    ),
    _C.ALERTS_ARE_SENT_AGAIN: _Entry(_INFO, ["Alerts in its scope are sent again, also those that fire now."]),
}
"""Every consequence: how much it matters, and its sentences."""


def consequence(code: ConsequenceCode, *, words: Mapping[str, str | None] = NO_WORDS, **facts: Any) -> Consequence:
    """The consequence with these facts. Null: not known. `words` are in its sentences too, and no facts."""
    entry, values = TABLE[code], {**words, **facts}
    sentences = [_FORMATTER.vformat(one, (), values) for one in entry.sentences if _are_known(one, values)]
    return Consequence(code=code, severity=entry.severity, message=" ".join(sentences), facts=facts)


def _are_known(sentence: str, facts: Mapping[str, Any]) -> bool:
    return all(facts[name] is not None for _, name, _, _ in _FORMATTER.parse(sentence) if name)


class _FactFormatter(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        match format_spec:
            case "size":
                return readable_size(value)
            case "duration":
                return readable_duration(value)
            case "names":
                return name_list(value)
            case _ if "|" in format_spec:
                one, several = format_spec.split("|")
                return f"{value:,} {one if value == 1 else several}"
            case _:
                return str(format(value, format_spec))


_FORMATTER = _FactFormatter()
