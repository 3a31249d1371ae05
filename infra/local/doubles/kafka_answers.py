"""The Kafka double's answers, one function per API: kio's request in, a dict of the response's fields out.

Error numbers are those of Kafka's protocol guide ("Error Codes").
"""

import uuid
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from infra.local.doubles.kafka_codec import KafkaRequest, apis, assignment
from infra.local.doubles.kafka_state import BROKER_SETTINGS, TOPIC_NAME, TOPIC_SETTINGS, BrokerState, Group, Log, Topic

NONE = 0
OFFSET_OUT_OF_RANGE = 1
CORRUPT_MESSAGE = 2
UNKNOWN_TOPIC = 3
LEADER_NOT_AVAILABLE = 5
INVALID_TOPIC = 17
TOPIC_DENIED = 29
GROUP_DENIED = 30
UNSUPPORTED_VERSION = 35
TOPIC_EXISTS = 36
INVALID_PARTITIONS = 37
INVALID_REPLICATION_FACTOR = 38
INVALID_REQUEST = 42
NON_EMPTY_GROUP = 68
GROUP_NOT_FOUND = 69
BROKER_ID = 1
MAX_WAIT_SECONDS = 1.0
LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
RESOURCE_TOPIC, RESOURCE_BROKER = 2, 4
SOURCE_TOPIC, SOURCE_DEFAULT = 1, 5

Fields = dict[str, Any]


class Answers:
    """Answers requests from the state. `host` and `port` are the address that clients get."""

    def __init__(self, state: BrokerState, host: str, port: int) -> None:
        self._state, self._host, self._port = state, host, port
        self._by_api: dict[str, Callable[[KafkaRequest], Fields]] = {
            "api_versions": self._api_versions,
            "metadata": self._metadata,
            "describe_cluster": self._describe_cluster,
            "describe_log_dirs": self._describe_log_dirs,
            "create_topics": self._create_topics,
            "delete_topics": self._delete_topics,
            "list_offsets": self._list_offsets,
            "describe_configs": self._describe_configs,
            "delete_records": self._delete_records,
            "find_coordinator": self._find_coordinator,
            "list_groups": self._list_groups,
            "describe_groups": self._describe_groups,
            "delete_groups": self._delete_groups,
            "offset_fetch": self._offset_fetch,
            "offset_commit": self._offset_commit,
            "init_producer_id": self._init_producer_id,
            "produce": self._produce,
            "fetch": self._fetch,
            "sasl_handshake": self._sasl_handshake,
            "sasl_authenticate": self._sasl_authenticate,
        }

    def answer(self, request: KafkaRequest) -> Fields:
        with self._state.lock:
            return self._by_api[request.api](request)

    # the cluster

    def _api_versions(self, request: KafkaRequest) -> Fields:
        keys = [{"api_key": key, "min_version": low, "max_version": high} for key, (_, low, high) in apis().items()]
        return {
            "error_code": UNSUPPORTED_VERSION if request.body is None else NONE,
            "api_keys": sorted(keys, key=lambda k: k["api_key"]),
        }

    def _sasl_handshake(self, _: KafkaRequest) -> Fields:
        return {"error_code": NONE, "mechanisms": ["PLAIN"]}

    def _sasl_authenticate(self, _: KafkaRequest) -> Fields:
        """Every user name and password is right."""
        return {"error_code": NONE, "auth_bytes": b""}

    def _broker(self) -> Fields:
        return {"node_id": BROKER_ID, "broker_id": BROKER_ID, "host": self._host, "port": self._port}

    def _metadata(self, request: KafkaRequest) -> Fields:
        topics = request.body.topics
        visible = [name for name in self._state.topics if name not in self._state.denied]
        names = visible if topics is None else [topic.name for topic in topics]
        return {
            "brokers": [self._broker()],
            "cluster_id": self._state.cluster_id,
            "controller_id": BROKER_ID,
            "topics": [self._topic(name) for name in names],
        }

    def _topic(self, name: str) -> Fields:
        topic = self._state.topics.get(name)
        if name in self._state.denied:
            return {"error_code": TOPIC_DENIED, "name": name}
        if topic is None:
            code = UNKNOWN_TOPIC if TOPIC_NAME.fullmatch(name or "") else INVALID_TOPIC
            return {"error_code": code, "name": name}
        nodes, lost = [BROKER_ID], {0} if name in self._state.leaderless else set()
        partitions = [
            {
                "error_code": LEADER_NOT_AVAILABLE if index in lost else NONE,
                "partition_index": index,
                "leader_id": -1 if index in lost else BROKER_ID,
                "leader_epoch": 0,
                "replica_nodes": nodes,
                "isr_nodes": nodes,
            }
            for index in range(len(topic.partitions))
        ]
        return {"name": name, "topic_id": topic.id, "is_internal": name.startswith("__"), "partitions": partitions}

    def _describe_cluster(self, _: KafkaRequest) -> Fields:
        return {"cluster_id": self._state.cluster_id, "controller_id": BROKER_ID, "brokers": [self._broker()]}

    def _describe_log_dirs(self, request: KafkaRequest) -> Fields:
        """One folder with the named partitions that exist: those that do not are left out."""
        topics = [{"name": topic.topic, "partitions": self._sizes(topic)} for topic in request.body.topics or ()]
        return {"results": [{"log_dir": "/double", "topics": [topic for topic in topics if topic["partitions"]]}]}

    def _sizes(self, topic: Any) -> list[Fields]:
        logs = {index: self._log(topic.topic, index) for index in topic.partitions}
        return [{"partition_index": index, "partition_size": log.size} for index, log in logs.items() if log]

    def _describe_configs(self, request: KafkaRequest) -> Fields:
        return {"results": [self._settings(resource) for resource in request.body.resources]}

    def _settings(self, resource: Any) -> Fields:
        base = {"resource_type": resource.resource_type, "resource_name": resource.resource_name}
        topic = self._state.topics.get(resource.resource_name)
        if resource.resource_type == RESOURCE_TOPIC and topic is None:
            return {
                **base,
                "error_code": UNKNOWN_TOPIC,
                "error_message": "This server does not host this topic-partition.",
            }
        if resource.resource_type not in (RESOURCE_TOPIC, RESOURCE_BROKER):
            return {**base, "error_code": INVALID_REQUEST, "error_message": "Unexpected resource type"}
        own = topic.settings if topic is not None and resource.resource_type == RESOURCE_TOPIC else {}
        settings = {**(TOPIC_SETTINGS if resource.resource_type == RESOURCE_TOPIC else BROKER_SETTINGS), **own}
        keys = resource.configuration_keys
        return {
            **base,
            "configs": [
                {
                    "name": name,
                    "value": value,
                    "config_source": SOURCE_TOPIC if name in own else SOURCE_DEFAULT,
                    "config_type": 2,
                }
                for name, value in settings.items()
                if not keys or name in keys
            ],
        }

    # topics

    def _create_topics(self, request: KafkaRequest) -> Fields:
        return {"topics": [self._create_topic(topic, dry=request.body.validate_only) for topic in request.body.topics]}

    def _create_topic(self, topic: Any, *, dry: bool) -> Fields:
        partitions = 1 if topic.num_partitions == -1 else topic.num_partitions
        refusals = (
            (topic.name in self._state.topics, TOPIC_EXISTS, f"Topic '{topic.name}' already exists."),
            (not TOPIC_NAME.fullmatch(topic.name), INVALID_TOPIC, "Topic name is invalid."),
            (not 1 <= partitions <= 10_000, INVALID_PARTITIONS, "Number of partitions must be larger than 0."),
            (
                topic.replication_factor not in (1, -1),
                INVALID_REPLICATION_FACTOR,
                "Unable to replicate the partition: 1 broker.",
            ),
        )
        for met, code, message in refusals:
            if met:
                return {"name": topic.name, "error_code": code, "error_message": message}
        if not dry:
            settings = {config.name: config.value for config in topic.configs if config.value is not None}
            self._state.create_topic(topic.name, partitions, settings)
        topic_id = self._state.topics[topic.name].id if not dry else uuid.uuid4()
        return {"name": topic.name, "topic_id": topic_id, "num_partitions": partitions, "replication_factor": 1}

    def _delete_topics(self, request: KafkaRequest) -> Fields:
        named = getattr(request.body, "topic_names", None)
        names = list(named) if named is not None else [topic.name for topic in request.body.topics]
        return {"responses": [self._delete_topic(name) for name in names]}

    def _delete_topic(self, name: str) -> Fields:
        if name in self._state.undeletable:
            return {"name": name, "error_code": TOPIC_DENIED}
        removed = self._state.topics.pop(name, None)
        return {
            "name": name,
            "topic_id": removed.id if removed else None,
            "error_code": NONE if removed else UNKNOWN_TOPIC,
        }

    def _log(self, topic: str, partition: int) -> Log | None:
        entry: Topic | None = self._state.topics.get(topic)
        return entry.partitions[partition] if entry and 0 <= partition < len(entry.partitions) else None

    def _list_offsets(self, request: KafkaRequest) -> Fields:
        return _each_partition(request.body.topics, self._offset)

    def _offset(self, topic: str, partition: Any) -> Fields:
        log = self._log(topic, partition.partition_index)
        base: Fields = {"partition_index": partition.partition_index}
        if log is None:
            return {**base, "error_code": UNKNOWN_TOPIC}
        newest = max(((stamp, first) for first, stamp, _ in log.batches), default=(-1, -1))
        special = {LATEST: (log.end, -1), EARLIEST: (log.begin, -1), MAX_TIMESTAMP: (newest[1], newest[0])}
        offset, stamp = special.get(partition.timestamp) or log.at_time(partition.timestamp)
        return {**base, "offset": offset, "timestamp": stamp, "leader_epoch": 0}

    def _delete_records(self, request: KafkaRequest) -> Fields:
        return _each_partition(request.body.topics, self._delete_before)

    def _delete_before(self, topic: str, partition: Any) -> Fields:
        log, base = self._log(topic, partition.partition_index), {"partition_index": partition.partition_index}
        if log is None:
            return {**base, "low_watermark": -1, "error_code": UNKNOWN_TOPIC}
        before = log.end if partition.offset == LATEST else partition.offset
        if not log.begin <= before <= log.end:
            return {**base, "low_watermark": -1, "error_code": OFFSET_OUT_OF_RANGE}
        log.begin = before
        return {**base, "low_watermark": before}

    # groups

    def _find_coordinator(self, request: KafkaRequest) -> Fields:
        keys = getattr(request.body, "coordinator_keys", ())
        refused = self._refused(getattr(request.body, "key", ""))
        named = [{**self._broker(), **self._refused(key), "key": key} for key in keys]
        return {**self._broker(), **refused, "coordinators": named}

    def _refused(self, group: str) -> Fields:
        return {"error_code": GROUP_DENIED} if group in self._state.denied else {}

    def _list_groups(self, request: KafkaRequest) -> Fields:
        states = [state.lower() for state in getattr(request.body, "states_filter", ())]
        kinds = [kind.lower() for kind in getattr(request.body, "types_filter", ())]
        groups = [
            {
                "group_id": group.name,
                "protocol_type": group.protocol_type,
                "group_state": group.state,
                "group_type": "classic",
            }
            for group in self._state.groups.values()
            if (not states or group.state.lower() in states) and (not kinds or "classic" in kinds)
        ]
        return {"groups": groups}

    def _describe_groups(self, request: KafkaRequest) -> Fields:
        return {"groups": [self._group(name) for name in request.body.groups]}

    def _group(self, name: str) -> Fields:
        group = self._state.groups.get(name)
        if name in self._state.denied:
            return {"group_id": name, "error_code": GROUP_DENIED}
        if group is None:
            return {"group_id": name, "group_state": "Dead"}
        members = [] if group.member_topics is None else [self._member(group)]
        protocol = "range" if members else ""
        base = {"group_id": name, "group_state": group.state, "protocol_type": group.protocol_type}
        return {**base, "protocol_data": protocol, "members": members}

    def _member(self, group: Group) -> Fields:
        present = [self._state.topics[name] for name in group.member_topics or () if name in self._state.topics]
        assigned = {topic.name: list(range(len(topic.partitions))) for topic in present}
        client = f"connector-consumer-{group.name.removeprefix('connect-')}-0"
        return {
            "member_id": f"{client}-1",
            "client_id": client,
            "client_host": "/127.0.0.1",
            "member_assignment": assignment(assigned) if group.assignment is None else group.assignment,
        }

    def _delete_groups(self, request: KafkaRequest) -> Fields:
        return {"results": [self._delete_group(name) for name in request.body.groups_names]}

    def _delete_group(self, name: str) -> Fields:
        group = self._state.groups.get(name)
        if group is None:
            return {"group_id": name, "error_code": GROUP_NOT_FOUND}
        if group.member_topics is not None:
            return {"group_id": name, "error_code": NON_EMPTY_GROUP}
        del self._state.groups[name]
        return {"group_id": name, "error_code": NONE}

    def _offset_fetch(self, request: KafkaRequest) -> Fields:
        if hasattr(request.body, "groups"):
            groups = [
                {"group_id": group.group_id, **self._fetched(group.group_id, group.topics)}
                for group in request.body.groups
            ]
            return {"groups": groups}
        return self._fetched(request.body.group_id, request.body.topics)

    def _fetched(self, group: str, topics: Any) -> Fields:
        return self._refused(group) or {"topics": self._committed(group, topics)}

    def _committed(self, group: str, topics: Any) -> list[Fields]:
        offsets = self._state.groups[group].offsets if group in self._state.groups else {}
        pairs = (
            list(offsets)
            if topics is None
            else [(topic.name, index) for topic in topics for index in topic.partition_indexes]
        )
        return [
            {
                "name": topic,
                "partitions": [
                    {"partition_index": index, "committed_offset": offsets.get((topic, index), -1), "metadata": ""}
                    for name, index in pairs
                    if name == topic
                ],
            }
            for topic in dict.fromkeys(name for name, _ in pairs)
        ]

    def _offset_commit(self, request: KafkaRequest) -> Fields:
        return _each_partition(request.body.topics, partial(self._commit, request.body.group_id))

    def _commit(self, group: str, topic: str, partition: Any) -> Fields:
        exists = self._log(topic, partition.partition_index) is not None
        if exists:
            self._state.commit(group, topic, partition.partition_index, partition.committed_offset)
        return {"partition_index": partition.partition_index, "error_code": NONE if exists else UNKNOWN_TOPIC}

    # records

    def _init_producer_id(self, _: KafkaRequest) -> Fields:
        return {"producer_id": next(self._state.producers), "producer_epoch": 0}

    def _produce(self, request: KafkaRequest) -> Fields:
        return {
            "responses": [
                {
                    "name": topic.name,
                    "partition_responses": [self._append(topic.name, partition) for partition in topic.partition_data],
                }
                for topic in request.body.topic_data
            ]
        }

    def _append(self, topic: str, partition: Any) -> Fields:
        log = self._log(topic, partition.index)
        base: Fields = {"index": partition.index, "base_offset": -1}
        if log is None:
            return {**base, "error_code": UNKNOWN_TOPIC}
        try:
            offset = log.append(bytes(partition.records or b""))
        except ValueError:
            return {**base, "error_code": CORRUPT_MESSAGE}
        self._state.written.notify_all()
        return {**base, "base_offset": offset, "log_start_offset": log.begin}

    def _fetch(self, request: KafkaRequest) -> Fields:
        topics = self._read_all(request)
        if not any(
            partition["records"] or partition["error_code"] for topic in topics for partition in topic["partitions"]
        ):
            self._state.written.wait(min(request.body.max_wait.total_seconds(), MAX_WAIT_SECONDS))
            topics = self._read_all(request)
        return {"responses": topics}

    def _read_all(self, request: KafkaRequest) -> list[Fields]:
        return [
            {"topic": topic.topic, "partitions": [self._read(topic.topic, partition) for partition in topic.partitions]}
            for topic in request.body.topics
        ]

    def _read(self, topic: str, partition: Any) -> Fields:
        log = self._log(topic, partition.partition)
        base: Fields = {"partition_index": partition.partition}
        if log is None:
            return {**base, "error_code": UNKNOWN_TOPIC, "high_watermark": -1, "records": b""}
        code = NONE if log.begin <= partition.fetch_offset <= log.end else OFFSET_OUT_OF_RANGE
        records = b"" if code else log.read(partition.fetch_offset, partition.partition_max_bytes)
        marks = {"high_watermark": log.end, "last_stable_offset": log.end, "log_start_offset": log.begin}
        return {**base, **marks, "error_code": code, "records": records}


def _each_partition(topics: Iterable[Any], answer: Callable[[str, Any], Fields]) -> Fields:
    return {
        "topics": [
            {"name": topic.name, "partitions": [answer(topic.name, partition) for partition in topic.partitions]}
            for topic in topics
        ]
    }
