"""Which errors say that something is in the way, and not that the input is wrong."""

IN_THE_WAY = frozenset(
    {
        # of what is registered, and of other calls
        *("NAME_CONFLICT", "STATE_CONFLICT", "RESOURCE_IN_USE", "OPERATION_IN_PROGRESS", "LAST_ADMIN"),
        *("CONNECTOR_NAME_CONFLICT", "TARGET_TABLE_CONFLICT", "SERVER_ID_CONFLICT"),
        # of the systems at both ends
        *("DATA_LOSS", "SOURCE_NOT_READY", "TARGET_NOT_READY", "TOPIC_NOT_FOUND", "PLUGIN_MISSING"),
        # of systems that do not answer, or refuse
        *("CONNECT_UNAVAILABLE", "STREAM_UNAVAILABLE", "SOURCE_UNAVAILABLE", "DESTINATION_UNAVAILABLE"),
        *("UPSTREAM_TIMEOUT", "CONNECT_REJECTED"),
    }
)
"""The codes of what a person can remove, or wait for, and then send the same call again."""

IN_THE_WAY_OF_STORED = IN_THE_WAY | {
    *("TABLE_NOT_DISCOVERED", "TOPIC_NOT_IN_PIPELINE", "KEY_REQUIRED", "TYPE_UNSUPPORTED", "CONNECTOR_CONFIG_INVALID"),
}
"""The same for a call without a body: it has no input that could be wrong but what is stored."""
