"""What stops or fails raises an alarm."""

from collections.abc import Iterator

import pytest

from infra.aws.alarms import Alarm, alarm_resources, alarms
from infra.aws.data_stack import table_names
from infra.aws.function_stack import merged_template
from infra.aws.functions import FUNCTIONS, QUEUE_FUNCTIONS, Function, Queue
from tests.support.cloudformation import Stack, with_defaults


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
    assert (alarm.statistic, alarm.lasting, alarm.periods) == ("Average", 3, 5)


def test_each_alarm_goes_to_the_topic_that_is_named_or_to_one_that_the_stack_makes() -> None:
    declared = {name: one for name, one in alarm_resources().items() if one["Type"] == "AWS::CloudWatch::Alarm"}
    assert len(declared) == len(list(alarms()))
    for arn, topic in (("", "made"), ("arn:aws:sns:eu-central-1:1:theirs", "arn:aws:sns:eu-central-1:1:theirs")):
        template = merged_template()
        parameters = with_defaults(template, {"AlarmTopicArn": arn})
        stack = Stack(template=template, parameters=parameters, resources={"AlarmTopic": "made"})
        sent_to = {str(stack.resolved(alarm["Properties"]["AlarmActions"])) for alarm in declared.values()}
        assert sent_to == {f"['{topic}']"}
        assert stack.holds(alarm_resources()["AlarmTopic"]["Condition"]) is not bool(arn)


@pytest.mark.parametrize(
    ("topic", "email", "told"), [("", "a@b.example", True), ("", "", False), ("arn", "a@b.example", False)]
)
def test_an_address_is_told_by_the_topic_that_the_stack_makes(topic: str, email: str, told: bool) -> None:
    template = merged_template()
    parameters = with_defaults(template, {"AlarmTopicArn": topic, "AlarmEmail": email})
    subscribed = alarm_resources()["AlarmSubscription"]["Condition"]
    assert Stack(template=template, parameters=parameters).holds(subscribed) is told


@pytest.mark.parametrize("name", table_names())
def test_a_table_that_refuses_calls_raises_an_alarm(name: str) -> None:
    (alarm,) = on("AWS/DynamoDB/ReadThrottleEvents", TableName={"Fn::Sub": f"${{Prefix}}{name}"})
    metrics = alarm.declaration()["Properties"]["Metrics"]
    read = [one["MetricStat"]["Metric"]["MetricName"] for one in metrics if "MetricStat" in one]
    assert read == ["ReadThrottleEvents", "WriteThrottleEvents"]
    assert metrics[-1] == {"Id": "total", "Expression": "FILL(m0, 0) + FILL(m1, 0)", "ReturnData": True}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda row: row.name)
def test_a_function_that_is_not_run_raises_an_alarm(function: Function) -> None:
    (alarm,) = on("AWS/Lambda/Throttles", FunctionName={"Ref": function.resource})
    assert (alarm.threshold, alarm.statistic) == (0, "Sum")


def test_the_slowest_requests_raise_an_alarm_by_a_percentile() -> None:
    latency = alarm_resources()["ApiLatencyAlarm"]["Properties"]
    assert (latency["ExtendedStatistic"], "Statistic" in latency) == ("p99", False)
