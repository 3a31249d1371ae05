"""Where the topics of a real Kafka end."""

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from tests.support.waiting import eventually

_ELECTION = (KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE)


def end_offset(consumer: Consumer, topic: str, partition: int) -> int:
    """The offset behind the partition's last record. A partition that was just created has no leader for a moment:
    this waits until it has one.
    """
    end = eventually(lambda: _end_offset(consumer, TopicPartition(topic, partition)), lambda read: read is not None)
    assert end is not None
    return end


def _end_offset(consumer: Consumer, partition: TopicPartition) -> int | None:
    try:
        return consumer.get_watermark_offsets(partition, timeout=10)[1]
    except KafkaException as error:
        if error.args[0].code() not in _ELECTION:
            raise
        return None
