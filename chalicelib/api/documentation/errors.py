"""What error codes mean, and which operation gives which. What follows from a route itself is not listed here: see
`chalicelib.api.framework.openapi`. Every test of the API compares the errors that it gets with the document.
"""

from collections.abc import Mapping

MEANINGS: Mapping[str, str] = {
    "MALFORMED_JSON": "The body is no JSON, is nested too deeply, or names a field twice.",
    "UNAUTHENTICATED": "No session and no valid token came with the request. Sign in.",
    "SECOND_FACTOR_REQUIRED": "The password is right, and a code of the second factor is missing.",
    "INVALID_CREDENTIALS": "The e-mail address, the password or the code is wrong, or the user is disabled.",
    "FORBIDDEN": "The role, the token or the session does not allow it.",
    "CSRF_REJECTED": "A change by a cookie needs the header `X-Correlation-ID` and comes from this origin.",
    "NOT_FOUND": "There is nothing of this id or name.",
    "NAME_CONFLICT": "The name, or the e-mail address, is taken, whatever its case.",
    "STATE_CONFLICT": "The state of the resource does not allow it now.",
    "RESOURCE_IN_USE": "Something uses it: `details.used_by` names it.",
    "DATA_LOSS": "Changes were lost. Take a new snapshot, or accept the loss with `accept_data_loss=true`.",
    "OPERATION_IN_PROGRESS": "Another operation on the connector is not finished. Ask again later.",
    "CONNECTOR_NAME_CONFLICT": "Kafka Connect has a connector of this name that is not Headgate's.",
    "TARGET_TABLE_CONFLICT": "Another delivery writes to the same table.",
    "SERVER_ID_CONFLICT": "Another capture reads the server under the same `server_id`.",
    "IDEMPOTENCY_KEY_REUSED": "The `Idempotency-Key` was sent with another body within 24 hours.",
    "REQUEST_IN_PROGRESS": "The same request is still being carried out. Ask again after `Retry-After` seconds.",
    "LAST_ADMIN": "It is the last active Admin.",
    "EVENTS_REMOVED": "The address was removed for good.",
    "VERSION_MISMATCH": "The stored version is not the one of `If-Match`. Read it again.",
    "PAYLOAD_TOO_LARGE": "The body is over 256 KiB.",
    "UNSUPPORTED_MEDIA_TYPE": "Send the body as `application/json`.",
    "VALIDATION_FAILED": "A part of the request is wrong: `details` names each place and what is right there.",
    "CONNECTOR_CONFIG_INVALID": "Kafka Connect refuses the config: `details.errors` names the fields.",
    "SOURCE_NOT_READY": "The source does not pass the checks in `details.checks`.",
    "TABLE_NOT_DISCOVERED": "No discovery has found a table that is named. Discover again, or correct its name.",
    "TOPIC_NOT_FOUND": "Kafka has no topic of this name.",
    "TOPIC_NOT_IN_PIPELINE": "The pipeline does not write to this topic.",
    "KEY_REQUIRED": "A table without a primary key can only be written with `insert`.",
    "TYPE_UNSUPPORTED": "A column has a type that the target cannot take.",
    "TARGET_NOT_READY": "The target is not as the delivery needs it: `details` says what to change.",
    "PLUGIN_MISSING": "The Connect cluster lacks the plug-in of this connector.",
    "URL_NOT_ALLOWED": "The address may not be contacted from here.",
    "REFERENCE_NOT_FOUND": "Something that the body names by its id does not exist.",
    "RATE_LIMITED": "Too many requests. Ask again after `Retry-After` seconds.",
    "INTERNAL": "An unexpected failure. The `X-Correlation-ID` names it in the log.",
    "CONNECT_REJECTED": "Kafka Connect has refused the request.",
    "TRY_AGAIN": "The store is busy, or others changed the same at this moment. Ask again after `Retry-After` seconds.",
    "CONNECT_UNAVAILABLE": "Kafka Connect cannot be reached, or is starting.",
    "STREAM_UNAVAILABLE": "The Kafka brokers cannot be reached.",
    "SOURCE_UNAVAILABLE": "The source cannot be reached, or what was seen of it is too old.",
    "DESTINATION_UNAVAILABLE": "The destination cannot be reached.",
    "IDENTITY_PROVIDER_UNAVAILABLE": "The identity provider cannot be reached.",
    "UPSTREAM_TIMEOUT": "A server did not answer in time. Whether it has done it is not known.",
}
"""One sentence for each code: what is wrong, and what helps."""

_CONNECT = ("CONNECT_UNAVAILABLE", "CONNECT_REJECTED", "UPSTREAM_TIMEOUT")
_KAFKA = ("STREAM_UNAVAILABLE", "UPSTREAM_TIMEOUT")
_REGISTER = ("NAME_CONFLICT", "STATE_CONFLICT", "REFERENCE_NOT_FOUND", "URL_NOT_ALLOWED")
_OPERATE = ("OPERATION_IN_PROGRESS", "CONNECTOR_NAME_CONFLICT", *_CONNECT)
_CONTINUE = ("DATA_LOSS", "SOURCE_UNAVAILABLE", "SOURCE_NOT_READY", *_OPERATE)
_CAPTURE = (
    *("NAME_CONFLICT", "STATE_CONFLICT", "SERVER_ID_CONFLICT", "REFERENCE_NOT_FOUND", "TABLE_NOT_DISCOVERED"),
    *("SOURCE_NOT_READY", "SOURCE_UNAVAILABLE", "PLUGIN_MISSING", "CONNECTOR_CONFIG_INVALID"),
    *(*_KAFKA, *_CONNECT),
)
_DELIVERY = (
    *("NAME_CONFLICT", "STATE_CONFLICT", "TARGET_TABLE_CONFLICT", "REFERENCE_NOT_FOUND", "TABLE_NOT_DISCOVERED"),
    *("TOPIC_NOT_FOUND", "TOPIC_NOT_IN_PIPELINE", "KEY_REQUIRED", "TYPE_UNSUPPORTED", "TARGET_NOT_READY"),
    *("PLUGIN_MISSING", "CONNECTOR_CONFIG_INVALID", "DESTINATION_UNAVAILABLE", *_KAFKA, *_CONNECT),
)
_ROWS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("INVALID_CREDENTIALS", "SECOND_FACTOR_REQUIRED"), "login"),
    (("INVALID_CREDENTIALS", "STATE_CONFLICT"), "change_password confirm_second_factor remove_second_factor"),
    (("STATE_CONFLICT", "NOT_FOUND"), "start_second_factor confirm_second_factor remove_second_factor"),
    (("STATE_CONFLICT", "LAST_ADMIN"), "change_user_role disable_user enable_user delete_user"),
    (("NAME_CONFLICT", "STATE_CONFLICT"), "invite_user accept_invite create_api_token"),
    (("UNAUTHENTICATED",), "get_metrics"),
    (("UPSTREAM_TIMEOUT",), "get_metrics list_alerts get_alert_summary get_overview verify_audit list_keys"),
    (("UPSTREAM_TIMEOUT",), "list_pipelines list_deliveries"),
    (("STATE_CONFLICT",), "get_overview verify_audit accept_restored_audit list_keys"),
    (_REGISTER, "create_connection update_connection create_source update_source"),
    (_REGISTER, "create_destination update_destination create_channel update_channel"),
    (_REGISTER, "create_alert_rule update_alert_rule"),
    (("REFERENCE_NOT_FOUND",), "preview_alert_rule"),
    ((*_REGISTER, *_KAFKA), "create_stream_cluster update_stream_cluster"),
    ((*_REGISTER, *_CONNECT, *_KAFKA), "create_connect_cluster update_connect_cluster"),
    (("RESOURCE_IN_USE",), "update_connection update_source update_destination"),
    (("RESOURCE_IN_USE",), "update_stream_cluster update_connect_cluster"),
    (("RESOURCE_IN_USE",), "delete_connection delete_source delete_destination delete_channel delete_topic"),
    (("RESOURCE_IN_USE",), "delete_stream_cluster delete_connect_cluster delete_alert_rule delete_pipeline"),
    (
        ("NOT_FOUND", "STATE_CONFLICT", "REFERENCE_NOT_FOUND", "URL_NOT_ALLOWED"),
        "test_unsaved_connection test_connection",
    ),
    (("URL_NOT_ALLOWED",), "test_source test_destination test_registered_connection test_channel"),
    (("URL_NOT_ALLOWED",), "test_unsaved_channel"),
    (("REFERENCE_NOT_FOUND",), "source_readiness"),
    (("SOURCE_UNAVAILABLE", "UPSTREAM_TIMEOUT"), "source_readiness discover_source check_source_health"),
    (("STATE_CONFLICT", *_CONNECT), "list_connectors get_connector_status list_plugins"),
    (
        ("NOT_FOUND", "STATE_CONFLICT", "URL_NOT_ALLOWED", *_KAFKA),
        "list_consumer_groups list_topics get_topic delete_topic",
    ),
    (("STATE_CONFLICT", "URL_NOT_ALLOWED", "SOURCE_NOT_READY", "UPSTREAM_TIMEOUT"), "rotate_source_credentials"),
    (
        ("STATE_CONFLICT", "URL_NOT_ALLOWED", "TARGET_NOT_READY", "UPSTREAM_TIMEOUT"),
        (
            "rotate_destination_credentials rotate_connection_credentials rotate_stream_cluster_credentials "
            "rotate_connect_cluster_credentials"
        ),
    ),
    (("STATE_CONFLICT", "REFERENCE_NOT_FOUND"), "create_maintenance"),
    (_CAPTURE, "create_pipeline preview_pipeline deploy_pipeline"),
    (_CONTINUE, "deploy_pipeline resume_pipeline restart_pipeline restart_pipeline_task"),
    (_OPERATE, "pause_pipeline delete_pipeline delete_delivery delete_destination_delivery"),
    (_OPERATE, "pause_delivery resume_delivery restart_delivery restart_delivery_task restart_destination_task"),
    (_OPERATE, "pause_destination resume_destination restart_destination"),
    (_DELIVERY, "preview_delivery deploy_delivery update_delivery_mappings update_destination_mappings"),
    (_OPERATE, "deploy_delivery update_delivery_mappings update_destination_mappings"),
)
"""Codes, and the operations that can give them besides those that follow from their route."""


def _by_operation() -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for codes, operations in _ROWS:
        for operation in operations.split():
            found[operation] = found.get(operation, frozenset()) | frozenset(codes)
    return found


CODES_OF = _by_operation()
"""The codes of each operation that `_ROWS` names."""
