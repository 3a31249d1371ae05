"""Mistakes with deliveries, clusters and alerts, and of requests as such."""

from tests.support.api_assertions import UNKNOWN_ID
from tests.support.mistakes.senders import (
    Mistake,
    by,
    channel,
    deleted_if,
    delivery,
    files_with_write_mode,
    get,
    json_to_a_database,
    mapped,
    not_in_the_pipeline,
    post,
    raw,
    rule,
    store,
)

OPERATING = (
    # Destinations and deliveries.
    Mistake(
        name="a destination is of an unknown kind",
        send=store("oracle", {}),
        message="provider has to be one of these: postgresql, mysql, s3, minio.",
        more={"allowed": ["postgresql", "mysql", "s3", "minio"]},
    ),
    Mistake(
        name="S3 has an endpoint",
        send=store("s3", {"bucket": "files", "region": "eu-central-1", "endpoint_url": "https://s3.example.com"}),
        message="Amazon S3 has its own addresses. Leave endpoint_url out, or use the provider minio.",
    ),
    Mistake(
        name="MinIO has no endpoint",
        send=store("minio", {"bucket": "files"}),
        message="Give the URL of the store, such as https://minio.example.com:9000.",
    ),
    Mistake(
        name="a topic is not the pipeline's",
        send=not_in_the_pipeline,
        message="A mapping names a topic that the pipeline does not write. Its topics are ",
    ),
    Mistake(
        name="the mappings lead to two schemas",
        send=mapped(("mart", "orders"), ("lake", "customers")),
        message="All mappings of a delivery share one target schema. Make one delivery for each schema.",
    ),
    Mistake(
        name="a mapping has no table",
        send=lambda sandbox: delivery(mappings=[{"topic": sandbox.pipeline["topics"][0]}])(sandbox),
        message="Give mappings[0].table_name: the table of the target that the rows of the topic are written to.",
    ),
    Mistake(
        name="files have a write mode",
        send=files_with_write_mode,
        message="Leave write_mode out: this provider does not have it. Options of its own are compression, "
        "file_name_template, format, max_records_per_file, shape.",
    ),
    Mistake(
        name="json goes to a database",
        send=json_to_a_database,
        message="The sink needs records that carry their schema. Choose a pipeline whose converter is json_schema, or "
        "make a new one: a pipeline keeps its converter.",
    ),
    Mistake(
        name="a delivery sets a property of the sink",
        send=delivery(properties={"insert.mode": "upsert"}),
        message="insert.mode is not set as a property. Set write_mode instead.",
        more={"option": "write_mode"},
    ),
    Mistake(
        name="the task is no number",
        send=lambda sandbox: sandbox.admin.post(f"/pipelines/{sandbox.pipeline['id']}/restart-task?task=abc"),
        message="task has to be an integer of at least 0.",
    ),
    # Clusters.
    Mistake(
        name="brokers have no port",
        send=post("/stream/clusters", {"name": "brokers", "bootstrap_servers": "kafka"}),
        message="bootstrap_servers has to be brokers with their ports, separated by commas, such as "
        "kafka-1.example.com:9092,kafka-2.example.com:9092.",
    ),
    Mistake(
        name="the address of Connect has no scheme",
        send=post("/connect/clusters", {"name": "w", "base_url": "connect:8083", "stream_cluster_id": UNKNOWN_ID}),
        message="base_url has to be http or https, a host and perhaps a port and a path, such as "
        "https://connect.example.com:8083.",
    ),
    Mistake(
        name="a cluster is used",
        send=lambda sandbox: (sandbox.pipeline, sandbox.admin.delete(f"/connect/clusters/{sandbox.connect['id']}"))[1],
        status=409,
        message="This connect cluster is in use. Delete what uses it first.",
    ),
    # Alerts.
    Mistake(
        name="a silence has no time zone",
        send=post(f"/alerts/{UNKNOWN_ID}/silence", {"until": "2031-01-01T00:00:00"}),
        message="until has to be a time with its zone, such as 2030-01-31T12:00:00Z.",
    ),
    Mistake(
        name="a cooldown is negative",
        send=rule(cooldown_seconds=-1),
        message="cooldown_seconds has to be an integer from 0 to 604800.",
        more={"limit": 0},
    ),
    Mistake(
        name="an event type is unknown",
        send=rule(event_types=["CONNECTOR_FAIL"]),
        message="Did you mean CONNECTOR_FAILED?",
        more={"did_you_mean": "CONNECTOR_FAILED"},
    ),
    Mistake(
        name="a channel does not exist",
        send=rule(channel_ids=[UNKNOWN_ID]),
        message="channel_ids[0] is no id of a channel that exists. GET /api/v1/notification-channels lists the ids.",
    ),
    Mistake(
        name="a webhook is not encrypted",
        send=channel("webhook", {"url": "http://example.com/hook"}),
        message="https",
    ),
    Mistake(
        name="a webhook is private",
        send=channel("webhook", {"url": "https://10.0.0.7/hook"}),
        message="address",
    ),
    Mistake(
        name="a channel has the name of a product",
        send=channel("slack", {"webhook_url": "https://hooks.slack.com/services/x"}),
        message="provider has to be one of these: chat-webhook, bot-chat, webhook.",
        more={"allowed": ["chat-webhook", "bot-chat", "webhook"]},
    ),
    # People.
    Mistake(
        name="a password is short",
        send=lambda sandbox: sandbox.unauthenticated().post("/invites/none/accept", {"password": "short"}),
        message="password has to be text of at least 12 characters.",
        more={"limit": 12},
    ),
    Mistake(
        name="a role is in lower case",
        send=post("/users/invite", {"email": "ada@example.com", "role": "admin"}),
        message="role has to be one of these: Admin, Ops, Viewer. Did you mean Admin?",
        more={"allowed": ["Admin", "Ops", "Viewer"], "did_you_mean": "Admin"},
    ),
    Mistake(
        name="nobody is signed in",
        send=lambda sandbox: sandbox.unauthenticated().get("/sources"),
        status=401,
        message="Sign in first: POST /api/v1/auth/login with email and password. A program sends an API token instead: "
        "Authorization: Bearer hg_...",
    ),
    Mistake(
        name="the role does not allow it",
        send=by("Viewer", lambda viewer: viewer.post("/sources", {})),
        status=403,
        message="This needs the permission write, which the role Admin or Ops has. Ask an Admin.",
    ),
    # Requests.
    Mistake(
        name="a query parameter is unknown",
        send=get("/sources?page_size=10"),
        message="This address has no query parameter page_size. It takes limit, cursor, view, q, label.",
        more={"allowed": ["limit", "cursor", "view", "q", "label"]},
    ),
    Mistake(
        name="a limit is too large",
        send=get("/sources?limit=1000"),
        message="limit has to be an integer from 1 to 500.",
        more={"limit": 500},
    ),
    Mistake(
        name="a cursor is made up",
        send=get("/sources?cursor=abc"),
        message="The cursor is not of this list with these filters, or older than a day. Take the X-Next-Cursor of the "
        "page before unchanged, or begin again without a cursor.",
    ),
    Mistake(
        name="an id in the path is no UUID",
        send=get("/sources/orders"),
        status=404,
        message="There is nothing at this address: {uuid} in its path has to be an id as lists show it: a UUID in "
        "lower case with dashes.",
    ),
    Mistake(
        name="the path lacks its prefix",
        send=get("//sources"),
        status=404,
        message="There is nothing at this address. The API is below /api/v1, and /docs lists its addresses. Did you "
        "mean /api/v1/sources?",
    ),
    Mistake(
        name="the path is misspelled",
        send=get("/pipeline"),
        status=404,
        message="There is nothing at this address. The API is below /api/v1, and /docs lists its addresses. Did you "
        "mean /api/v1/pipelines?",
    ),
    Mistake(
        name="the method is another one",
        send=lambda sandbox: sandbox.admin.call("PATCH", "/sources"),
        status=405,
        message="This address takes GET, POST only.",
    ),
    Mistake(
        name="If-Match has no quotes",
        send=lambda sandbox: deleted_if(sandbox, "1"),
        message='If-Match takes one version in double quotes, such as "3": the ETag of the answer that you read.',
    ),
    Mistake(
        name="the version is old",
        send=lambda sandbox: deleted_if(sandbox, '"77"'),
        status=412,
        message="It has changed since you read it. Read it again, and repeat your change with the ETag of that answer "
        "as If-Match.",
    ),
    Mistake(
        name="an Idempotency-Key has a blank",
        send=post("/sources", {}, headers={"Idempotency-Key": "my key"}),
        message="Idempotency-Key is 1 to 64 letters, digits, dots, underscores and dashes, without blanks, such as a "
        "UUID.",
    ),
    Mistake(
        name="the body is not declared as JSON",
        send=raw("{}", content_type="text/plain"),
        status=415,
        message="Send the body as JSON, in UTF-8, with the header Content-Type: application/json.",
    ),
    Mistake(
        name="JSON has a comma too many",
        send=raw('{\n  "name": "shop",\n}'),
        status=400,
        message="The body is not JSON that is accepted here: at line 2, column 17, a comma stands before a closing "
        "bracket.",
    ),
    Mistake(
        name="JSON has single quotes",
        send=raw("{'name': 'shop'}"),
        status=400,
        message="The body is not JSON that is accepted here: at line 1, column 2, a key in double quotes is expected.",
    ),
)
"""Each sentence is the whole one, or a part where it lists much."""
