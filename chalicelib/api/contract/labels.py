"""Labels in bodies (wire contract, section 3)."""

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from chalicelib.api.contract.common import VISIBLE_NAME
from chalicelib.domain.labels import MAX_LABELS

LabelKey = Annotated[str, StringConstraints(pattern=r"^[a-z0-9._/-]{1,63}$")]
LabelValue = Annotated[str, StringConstraints(strip_whitespace=True, max_length=63), VISIBLE_NAME]
Labels = Annotated[dict[LabelKey, LabelValue], Field(max_length=MAX_LABELS)]
LABELS: Any = Field(
    default_factory=dict,
    description="At most 16 pairs to group and find it by, such as `team: shop`. A change without them removes them.",
)
"""The field of a body. What a body leaves out is empty, as everywhere but in credentials."""
ShownLabels = Annotated[dict[str, str], Field(description="Pairs of key and value to group and find it by.")]
"""The same field in an answer."""
