"""How requests ask for deliveries to files, and which sink is taken."""

from typing import Any

import pytest

from chalicelib.domain.delivery import MappingInput
from chalicelib.domain.object_store import SinkPlugin
from chalicelib.domain.providers.object_store.plugins import AIVEN, CAMEL, CONFLUENT, chosen
from chalicelib.domain.providers.object_store.target_provider import FileTarget
from chalicelib.errors import Invalid
from tests.support.entities import make_pipeline
from tests.support.faults import places
from tests.unit.domain.providers.object_store.test_sink_configs import MINIO

ORDERS = MappingInput(topic="shop.public.orders")


@pytest.mark.parametrize(
    "template",
    [
        "{{topic}}/{{partition}}-{{start_offset}}",
        "{{topic}}/p={{partition:padding=true}}/{{start_offset:padding=false}}",
        "{{topic}}/{{timestamp:unit=yyyy}}-{{timestamp:unit=MM}}/{{partition}}-{{start_offset}}",
    ],
)
def test_a_template_that_keeps_files_apart_is_taken(template: str) -> None:
    assert FileTarget().writing([ORDERS], {"file_name_template": template}, MINIO).file_name_template == template


@pytest.mark.parametrize(
    ("template", "type_"),
    [
        ("{{topic}}/{{partition}}", "missing_variable"),
        ("{{topic}}/{{start_offset}}", "missing_variable"),
        ("{{partition}}-{{start_offset}}", "missing_variable"),
        ("{{topic}}-{{partition}}-{{start_offset}}-{{key}}", "variable"),
        ("{{topic}}-{{partition}}-{{start_offset}}-{{timestamp:unit=ss}}", "variable"),
        ("{{topic}}-{{partition}}-{{start_offset:padding=perhaps}}", "variable"),
        ("/{{topic}}-{{partition}}-{{start_offset}}", "characters"),
        ("a//{{topic}}-{{partition}}-{{start_offset}}", "characters"),
        ("../{{topic}}-{{partition}}-{{start_offset}}", "characters"),
        ("{{topic}} {{partition}}-{{start_offset}}", "characters"),
        ("{{topic}}-{{partition}}-{{start_offset}}-{x}", "characters"),
        ("x" * 512 + "{{topic}}-{{partition}}-{{start_offset}}", "characters"),
    ],
)
def test_a_template_by_which_files_could_meet_is_refused(template: str, type_: str) -> None:
    with pytest.raises(Invalid) as refused:
        FileTarget().writing([ORDERS], {"file_name_template": template}, MINIO)
    assert places(refused.value.details) == [{"location": ["body", "file_name_template"], "type": type_}]


def plugin(sink: Any) -> SinkPlugin:
    return SinkPlugin(class_name=sink.class_name, version="1")


@pytest.mark.parametrize(
    ("installed", "expected"),
    [([CAMEL, CONFLUENT, AIVEN], AIVEN), ([CAMEL, CONFLUENT], CONFLUENT), ([CAMEL], CAMEL)],
)
def test_the_best_of_the_installed_sinks_is_taken(installed: list[Any], expected: Any) -> None:
    assert chosen(lambda: [plugin(sink) for sink in installed]) == plugin(expected)


def test_without_a_sink_the_error_names_all_that_would_do() -> None:
    with pytest.raises(Invalid) as refused:
        chosen(lambda: [SinkPlugin(class_name="com.example.Other", version=None)])
    assert refused.value.code == "PLUGIN_MISSING"
    assert AIVEN.class_name in refused.value.message


def test_a_chosen_sink_stays_when_a_better_one_is_installed() -> None:
    target, pipeline = FileTarget(), make_pipeline()
    first = target.completed(target.writing([ORDERS], {}, MINIO), pipeline, lambda: [plugin(CAMEL)])
    again = target.completed(first, pipeline, lambda: [plugin(AIVEN)])
    assert again.plugin == plugin(CAMEL)


def test_other_mappings_keep_the_sink_and_the_options() -> None:
    target = FileTarget()
    asked = target.writing([ORDERS], {"shape": "row"}, MINIO)
    first = target.completed(asked, make_pipeline(), lambda: [plugin(AIVEN)])
    after = target.remapped(first, [MappingInput(topic="shop.public.items")], MINIO)
    assert (after.targets, after.plugin, after.shape) == (("shop.public.items",), first.plugin, first.shape)
