"""What is wrong with reading a MySQL server's binary log and the schema history, and what helps, by diagnosis."""

from chalicelib.domain.diagnosis.diagnoses import Diagnosis, Sentences
from chalicelib.domain.diagnosis.new_snapshot import GO_ON_AFTER_THE_GAP, NEW_SNAPSHOT

OF_BINARY_LOGS: Sentences = {
    Diagnosis.BINLOG_GONE: (
        f"The source has purged binary logs that the connector still needed. {NEW_SNAPSHOT} {GO_ON_AFTER_THE_GAP}"
    ),
    Diagnosis.BINLOG_REFUSED: (
        "The source refuses to send its binary log from where the connector stopped: it was begun anew, or is "
        "damaged. Compare SHOW BINARY LOGS with the connector's offset, and read the source's error log. "
        f"{GO_ON_AFTER_THE_GAP}"
    ),
    Diagnosis.BINLOG_GTIDS: (
        "The source uses GTIDs, and the connector's stored position has none. With the property "
        f"gtid.ignore.on.recovery true it goes on by file and position. {GO_ON_AFTER_THE_GAP}"
    ),
    Diagnosis.BINLOG_EVENT: (
        "An event of the binary log could not be read. A restart of the task reads it again; if that fails too, "
        "look at it with mysqlbinlog, and raise net_write_timeout on the source."
    ),
    Diagnosis.BINLOG_SERVER_ID: (
        "Another reader of the binary log uses the same server id (options.server_id of the pipeline): the server lets "
        "in only the one that came last, so a restart alone ends the other reader, and that one ends this capture "
        "again. Stop the other reader or give it another id, then POST /pipelines/ID/restart: nothing is lost "
        "meanwhile. A pipeline keeps its id; only a new one can have another."
    ),
    Diagnosis.PACKET: (
        "A binary log event is larger than the source may send. Raise max_allowed_packet on the source."
    ),
    Diagnosis.BINLOG_FORMAT: (
        "The binary log lacks whole rows. Set binlog_format to ROW and binlog_row_image to FULL."
    ),
    Diagnosis.BINLOG_HISTORY: (
        "The schema history topic is missing or incomplete, so the binary log cannot be read any further. "
        f"{NEW_SNAPSHOT} {GO_ON_AFTER_THE_GAP}"
    ),
    Diagnosis.BINLOG_HISTORY_NAMES: (
        f"The schema history is one of another binary log, whose files have other names. {GO_ON_AFTER_THE_GAP}"
    ),
    Diagnosis.BINLOG_ONE_TASK: "A connector for a binary log runs as exactly one task. Set tasks_max to 1.",
    Diagnosis.BINLOG_HISTORY_SETUP: (
        "The schema history cannot be set up. Check that the worker reaches its Kafka brokers and may use its topic."
    ),
    Diagnosis.BINLOG_HISTORY_NOT_MADE: (
        "The connector could not make the topic of its schema history. Let the worker create topics, or make the "
        "topic yourself: its name is in the pipeline's config, with one partition, cleanup.policy delete, and "
        "retention.ms and retention.bytes -1. Then POST /pipelines/ID/restart."
    ),
    Diagnosis.BINLOG_OFF: "The binary log cannot be read. Check that it is on, and that its files are there.",
    Diagnosis.BINLOG_SCHEMA: (
        "A change in the binary log does not fit what is known of its table: the schema history is incomplete, or "
        f"binlog_row_image was not FULL when the change was written. {NEW_SNAPSHOT} {GO_ON_AFTER_THE_GAP}"
    ),
}

RIGHTS_ON_BINARY_LOGS: Sentences = {
    Diagnosis.BINLOG_RIGHT: (
        "The source's account may not read the binary log. Grant it REPLICATION SLAVE and REPLICATION CLIENT."
    ),
}
