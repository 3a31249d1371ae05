"""moto's answers of DynamoDB without detours: a test makes thousands of requests, and most of its time is moto's.

moto looks each field of an answer up under several spellings, for every field that the service's model has. DynamoDB's
answers are dictionaries with the right names already. It also lists the methods of its own class for each request.
"""

from functools import cache
from typing import Any

from moto.core import responses
from moto.core.serialize import JSONSerializer

_serialize_structure = JSONSerializer._serialize_type_structure


def _structure(self: JSONSerializer, serialized: Any, value: Any, shape: Any, key: str) -> None:
    if type(value) is not dict or self.operation_model.service_model.service_name != "dynamodb":
        _serialize_structure(self, serialized, value, shape, key)
        return
    wrapper: dict[str, Any] = self.MAP_TYPE() if key else serialized
    for member_key, member in value.items():
        member_shape = shape.members.get(member_key)
        if member_shape is not None and member is not None:
            member_shape.parent = shape
            self._serialize(wrapper, member, member_shape, member_key)
    if key:
        self._default_serialize(serialized, wrapper, shape, key)


def answer_quickly() -> None:
    """Patches moto in this process. A second call changes nothing."""
    JSONSerializer._serialize_type_structure = _structure  # type: ignore[method-assign]
    if not hasattr(responses.method_names_from_class, "cache_info"):
        responses.method_names_from_class = cache(responses.method_names_from_class)  # type: ignore[assignment]
