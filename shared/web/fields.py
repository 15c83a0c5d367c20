"""Fields that several wire models share, and the two manners of a PATCH: left out, and fixed for ever."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from shared.domain.names import MAX_NAME_CHARACTERS, checked_name
from shared.web.wire import WireModel

_CONTROL = "\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069"
# The invisible characters that a pattern can name everywhere: those of the first 65,536.
_INVISIBLE = (
    "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2060-\\u206f\\u2800\\u3164"
    "\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb"
)

Name = Annotated[
    str,
    AfterValidator(checked_name),
    WithJsonSchema(
        {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_NAME_CHARACTERS,
            "pattern": f"^[^{_CONTROL}]*[^{_CONTROL}{_INVISIBLE}\\s][^{_CONTROL}]*$",
            "description": "One line for people, at least one character visible; shown without white space around it.",
        }
    ),
]


def unset() -> Any:
    """The default of a field that a PATCH left out: only `model_fields_set` tells what was sent."""
    return None


def _refused(_value: object) -> object:
    raise ValueError("This is fixed from the beginning and cannot be changed")


class Nothing(WireModel):
    """A body without fields: `{}`, or none at all."""


# A field that exists and cannot be changed: naming it is refused in clear words, and it is not in the schema.
Fixed = Annotated[SkipJsonSchema[object], BeforeValidator(_refused), Field(default_factory=unset)]
