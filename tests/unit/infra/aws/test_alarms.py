"""What stops or fails raises an alarm."""

from collections.abc import Iterator

import pytest

from infra.aws.alarms import Alarm, alarm_resources, alarms
from infra.aws.functions import FUNCTIONS, QUEUE_FUNCTIONS, Function, Queue


def on(metric: str, **dimension: object) -> Iterator[Alarm]:
    return (alarm for alarm in alarms() if alarm.metric == metric and alarm.of == dimension)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda row: row.name)
def test_a_function_that_fails_raises_an_alarm(function: Function) -> None:
    (alarm,) = on("AWS/Lambda/Errors", FunctionName={"Ref": function.resource})
    assert (alarm.threshold, alarm.statistic, alarm.below) == (0, "Sum", False)


@pytest.mark.parametrize(("function", "queue"), QUEUE_FUNCTIONS, ids=lambda row: row.name)
def test_a_queue_raises_alarms_about_dead_letters_and_about_messages_that_nobody_takes(
    function: Function, queue: Queue
) -> None:
    (dead,) = on("AWS/SQS/ApproximateNumberOfMessagesVisible", QueueName={"Fn::Sub": f"${{Prefix}}{queue.name}-dead"})
    (late,) = on("AWS/SQS/ApproximateAgeOfOldestMessage", QueueName={"Fn::Sub": f"${{Prefix}}{queue.name}"})
    assert (dead.threshold, late.threshold) == (0, queue.late_seconds)
    assert function.deployed_name in dead.description


def test_a_dispatcher_that_no_longer_runs_raises_an_alarm_although_there_is_no_data() -> None:
    missing = alarm_resources()["DispatchMissingAlarm"]["Properties"]
    assert missing["MetricName"] == "Invocations"
    assert (missing["ComparisonOperator"], missing["Threshold"]) == ("LessThanThreshold", 1)
    assert missing["TreatMissingData"] == "breaching"


def test_answers_with_5xx_raise_an_alarm_by_the_name_of_the_api() -> None:
    (alarm,) = on("AWS/ApiGateway/5XXError", ApiName={"Fn::Sub": "${Prefix}api"}, Stage="api")
    assert (alarm.statistic, alarm.lasting, alarm.periods) == ("Average", 3, 3)


def test_each_alarm_goes_to_the_topic_if_there_is_one() -> None:
    topic = {"Fn::If": ["AlarmsAreSent", {"Ref": "AlarmTopicArn"}, {"Ref": "AWS::NoValue"}]}
    declared = alarm_resources()
    assert len(declared) == len(list(alarms()))
    assert [name for name, alarm in declared.items() if alarm["Properties"]["AlarmActions"] != [topic]] == []
