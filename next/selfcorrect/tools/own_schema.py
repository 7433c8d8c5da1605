"""The JSON Schema of Python types, where pydantic's says less than the types take.

`datetime` and `time` take a time without an offset, and the formats of JSON Schema do not. A model
that is told to write an offset invents one.
"""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema


class OwnSchema(GenerateJsonSchema):
    """Gives a time whose offset may be missing a format of its own."""

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        return _without_offset(super().datetime_schema(schema), schema)

    def time_schema(self, schema: core_schema.TimeSchema) -> JsonSchemaValue:
        return _without_offset(super().time_schema(schema), schema)


def _without_offset(made: JsonSchemaValue, schema: Any) -> JsonSchemaValue:
    if schema.get("tz_constraint", "naive") != "naive":
        return made
    return {**made, "format": f"naive-{made['format']}"}
