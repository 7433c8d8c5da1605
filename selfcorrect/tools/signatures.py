"""Reads a Python function as a tool: its name, its description, the JSON Schema of its arguments.

Annotations that are plain JSON (`str`, `list[int]`, `Literal["a", "b"]`, `float | None` …) are read
here, and such arguments are passed as they are. Every other annotation is left to pydantic, which
also turns the arguments into the annotated types before the function is called.
"""

from __future__ import annotations

import functools
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeAlias, Union, get_args, get_origin

from selfcorrect.errors import SelfCorrectError, ToolDefinitionError
from selfcorrect.model import ABSENT
from selfcorrect.plain import problem
from selfcorrect.schema.closing import Schema, parts

Arguments: TypeAlias = dict[str, Any]
Converter: TypeAlias = Callable[[Arguments], Arguments]

_JSON_TYPES: Final[Mapping[Any, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    None: "null",
    types.NoneType: "null",
    list: "array",
    dict: "object",
}
_ANYTHING: Final = (Any, object, inspect.Parameter.empty)
_HOSTS: Final = ("langchain_core", "langchain", "langgraph")
_SECTION: Final = re.compile(r"(?:Args|Arguments|Params|Parameters):\s*")
_ENTRY: Final = re.compile(r"(\s+)\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.*)")
_HEADING: Final = re.compile(r"\w[\w ]*:\s*")


class ArgumentDeserializationError(SelfCorrectError):
    """The arguments fit the schema but not the function's own types; the function was not called.

    Attributes:
        target: The name of the tool.
        cause: What refused them, in most cases a `pydantic.ValidationError`.
    """

    code: ClassVar[str] = "SC207"

    def __init__(self, target: str, cause: Exception) -> None:
        self.target = target
        self.cause = cause
        super().__init__(f"the arguments of tool {target!r} cannot be read: {cause}")


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function says of itself.

    Attributes:
        schema: JSON Schema of the arguments.
        convert: Turns a copy of checked arguments into what the function takes.
        local_times: Whether the schema is pydantic's, which takes times without an offset.
    """

    name: str
    description: str
    schema: Schema
    convert: Converter
    local_times: bool = False


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    annotation: Any
    default: Any
    description: str | None

    @property
    def is_required(self) -> bool:
        return self.default is inspect.Parameter.empty


def signature_of(
    function: Callable[..., Any], name: str | None = None, hidden: str | None = None
) -> Signature:
    """Read a function as a tool.

    >>> def add(a: int, b: int = 1) -> int:
    ...     '''Add two numbers.'''
    >>> signature_of(add).schema["properties"]
    {'a': {'type': 'integer'}, 'b': {'type': 'integer', 'default': 1}}

    Args:
        function: A function, a bound method, a partial or an object with `__call__`.
        name: The tool's name, if it is not the function's.
        hidden: A parameter that somebody else fills in.

    Raises:
        ToolDefinitionError: If it cannot be called with named JSON arguments.
    """
    source: Any = function.func if isinstance(function, functools.partial) else function
    name = name or str(getattr(source, "__name__", type(source).__name__))
    _check_function(function, source, name)
    doc = inspect.getdoc(source) or inspect.getdoc(source.__call__) or ""
    parameters, more = _parameters(function, source, name, _described_in(doc))
    parameters = [each for each in parameters if each.name != hidden]
    plain = [_plain_schema(each.annotation) for each in parameters]
    # Only pydantic can read a default that is its `Field(…)`.
    has_field = any(_package(each.default) == "pydantic" for each in parameters)
    if all(each is not None for each in plain) and not has_field:
        schema = _object_of(parameters, typing.cast("list[Schema]", plain))
        signature = Signature(name, _first_paragraph(doc), schema, _to_whole_numbers(parameters))
    else:
        schema, convert = _by_pydantic(name, parameters)
        signature = Signature(name, _first_paragraph(doc), schema, convert, local_times=True)
    if more is not ABSENT:
        schema["additionalProperties"] = more
    return signature


def _check_function(function: Callable[..., Any], source: Any, name: str) -> None:
    if inspect.isclass(source):
        raise ToolDefinitionError(f"{name!r} is a class; a tool is a function: pass one")
    if name == "<lambda>":
        raise ToolDefinitionError("a lambda has no name that a model could call it by: use def")
    body = source if inspect.isroutine(source) else getattr(source, "__call__", source)  # noqa: B004
    if inspect.isgeneratorfunction(body) or inspect.isasyncgenfunction(body):
        raise ToolDefinitionError(f"tool {name!r} yields; a tool returns its value")
    if not callable(function):
        raise ToolDefinitionError(f"{name!r} is not callable")


def _parameters(
    function: Callable[..., Any], source: Any, name: str, described: Mapping[str, str]
) -> tuple[list[_Parameter], Any]:
    """The parameters, and the schema of further keywords (`**kwargs`), or `ABSENT`."""
    try:
        signature = inspect.signature(function)
        hints = typing.get_type_hints(
            source if inspect.isroutine(source) else type(source).__call__, include_extras=True
        )
    except (ValueError, TypeError, NameError, AttributeError, SyntaxError) as error:
        raise ToolDefinitionError(
            f"the signature of tool {name!r} cannot be read: {error}"
        ) from None
    bound = function.keywords if isinstance(function, functools.partial) else {}
    found: list[_Parameter] = []
    more: Any = ABSENT
    for index, (key, parameter) in enumerate(signature.parameters.items()):
        annotation = hints.get(key, parameter.annotation)
        _check_parameter(name, parameter, annotation, is_first=index == 0)
        if parameter.kind is parameter.VAR_KEYWORD:
            schema = _plain_schema(annotation)
            if schema is None:
                raise ToolDefinitionError(
                    f"tool {name!r}: annotate **{key} with a type that is plain JSON"
                )
            more = schema or True
        elif key not in bound:
            annotation, text = _split_text(annotation)
            found.append(_Parameter(key, annotation, parameter.default, text or described.get(key)))
    return found, more


def _check_parameter(
    tool: str, parameter: inspect.Parameter, annotation: Any, *, is_first: bool
) -> None:
    key = parameter.name
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise ToolDefinitionError(
            f"tool {tool!r}: a model names its arguments, but {key!r} is positional-only: "
            "remove the / after it"
        )
    if parameter.kind is parameter.VAR_POSITIONAL:
        raise ToolDefinitionError(
            f"tool {tool!r}: a model names its arguments; turn *{key} into a list parameter"
        )
    if is_first and key in ("self", "cls") and annotation is parameter.empty:
        raise ToolDefinitionError(f"tool {tool!r} is a method: pass it bound to its object")
    marks = [annotation, *getattr(annotation, "__metadata__", ())]
    if any(_package(each) in _HOSTS for each in marks):
        raise ToolDefinitionError(
            f"tool {tool!r}: only LangChain fills in {key!r}: decorate the function with @tool"
        )


def _package(mark: Any) -> str:
    owner = get_origin(mark) or mark
    module = getattr(owner if isinstance(owner, type) else type(owner), "__module__", "")
    return str(module).partition(".")[0]


def _split_text(annotation: Any) -> tuple[Any, str | None]:
    """Take a description out of `Annotated[int, "how many"]`."""
    if get_origin(annotation) is not typing.Annotated:
        return annotation, None
    kind, *marks = get_args(annotation)
    texts = [each for each in marks if isinstance(each, str)]
    rest = tuple(each for each in marks if not isinstance(each, str))
    return (typing.Annotated[(kind, *rest)] if rest else kind), (texts[0] if texts else None)


def _plain_schema(annotation: Any) -> Schema | None:
    """The schema of an annotation that is plain JSON, or None if it is not."""
    if any(annotation is each for each in _ANYTHING):
        return {}
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is None:
        return _bare_schema(annotation)
    if origin is Literal:
        return _literal_schema(args)
    inner = [_plain_schema(each) for each in args]
    if any(each is None for each in inner):
        return None
    if origin in (Union, types.UnionType):
        return {"anyOf": inner}
    if origin is list:
        return {"type": "array", "items": inner[0]}
    if origin is dict and args[0] is str:
        return {"type": "object", "additionalProperties": inner[1] or True}
    return None


def _bare_schema(annotation: Any) -> Schema | None:
    kind = _JSON_TYPES.get(annotation) if isinstance(annotation, type | None) else None
    if kind is None:
        return None
    return {"type": kind} if kind != "object" else {"type": kind, "additionalProperties": True}


def _literal_schema(values: tuple[Any, ...]) -> Schema | None:
    kinds = {type(each) for each in values}
    if not kinds <= {str, int, bool, types.NoneType}:
        return None
    schema: Schema = {"enum": list(values)}
    return {**schema, "type": _JSON_TYPES[kinds.pop()]} if len(kinds) == 1 else schema


def _object_of(parameters: list[_Parameter], schemas: list[Schema]) -> Schema:
    properties = {}
    for parameter, schema in zip(parameters, schemas, strict=True):
        if parameter.description:
            schema["description"] = parameter.description
        if not parameter.is_required and problem(parameter.default) is None:
            schema["default"] = parameter.default
        properties[parameter.name] = schema
    required = [each.name for each in parameters if each.is_required]
    schema = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


def _to_whole_numbers(parameters: list[_Parameter]) -> Converter:
    """For JSON 1.0 is an integer; for a Python function that takes an int it has to be 1."""
    kinds = {each.name: each.annotation for each in parameters}
    return lambda args: {name: _whole(value, kinds.get(name)) for name, value in args.items()}


def _whole(value: Any, annotation: Any) -> Any:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        kinds = [each for each in args if not (each is int and float in args)]
        return functools.reduce(_whole, kinds, value)
    if type(value) is list and origin is list:
        return [_whole(each, args[0]) for each in value]
    if type(value) is dict and origin is dict:
        return {key: _whole(each, args[1]) for key, each in value.items()}
    is_whole = annotation is int or (origin is Literal and int in map(type, args))
    return int(value) if is_whole and type(value) is float else value


def _by_pydantic(tool: str, parameters: list[_Parameter]) -> tuple[Schema, Converter]:
    """The schema that pydantic makes, and the function that reads arguments with it.

    The model's fields have names of their own, so that no parameter name can clash with pydantic.
    """
    from pydantic import ConfigDict, Field, create_model
    from pydantic.fields import FieldInfo

    fields: dict[str, Any] = {}
    names: dict[str, str] = {}
    filled = set()
    for index, each in enumerate(parameters):
        field = f"parameter_{index}"
        names[field] = each.name
        kind = Any if each.annotation is inspect.Parameter.empty else each.annotation
        default = ... if each.is_required else each.default
        if isinstance(default, FieldInfo):
            filled.add(field)
        fields[field] = (typing.Annotated[kind, Field(alias=each.name)], default)
    try:
        model: Any = create_model(tool, __config__=ConfigDict(extra="forbid"), **fields)
        schema: Schema = model.model_json_schema(schema_generator=_generator())
    except Exception as error:
        why = str(error).partition("\n")[0]
        raise ToolDefinitionError(f"tool {tool!r}: pydantic has no schema for it: {why}") from error
    _tidy(schema, parameters)

    def convert(args: Arguments) -> Arguments:
        known = {key: value for key, value in args.items() if key in schema["properties"]}
        try:
            read = model.model_validate(known)
        except Exception as error:
            raise ArgumentDeserializationError(tool, error) from error
        given = filled | read.model_fields_set
        values = {name: getattr(read, field) for field, name in names.items() if field in given}
        return {key: value for key, value in args.items() if key not in known} | values

    return schema, convert


@functools.lru_cache(maxsize=1)
def _generator() -> Any:
    from pydantic.json_schema import GenerateJsonSchema

    class Generator(GenerateJsonSchema):
        """Without titles, which only repeat names, and without a word about other defaults."""

        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

        def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
            return False

    return Generator


def _tidy(schema: Schema, parameters: list[_Parameter]) -> None:
    for key in ("title", "additionalProperties", "description"):
        schema.pop(key, None)
    properties = schema.setdefault("properties", {})
    for each in parameters:
        found = properties.get(each.name)
        if isinstance(found, dict) and each.description:
            found.setdefault("description", each.description)
    todo = [schema]
    while todo:
        part = todo.pop()
        if "default" in part and problem(part["default"]) is not None:
            del part["default"]
        todo += [each for _, _, each in parts(part)]


def _first_paragraph(doc: str) -> str:
    lines: list[str] = []
    for line in doc.strip().splitlines():
        if not line.strip() or _HEADING.fullmatch(line):
            break
        lines.append(line.strip())
    return " ".join(lines)


def _described_in(doc: str) -> dict[str, str]:
    """The descriptions of parameters in a Google-style docstring."""
    found: dict[str, str] = {}
    indent: str | None = None
    key: str | None = None
    inside = False
    for line in doc.splitlines():
        if not line[:1].isspace():
            inside = _SECTION.fullmatch(line) is not None or (inside and not line.strip())
            indent = key = None if not inside else indent
            continue
        entry = _ENTRY.fullmatch(line) if inside else None
        if entry and (indent is None or entry[1] == indent):
            indent, key = entry.group(1), str(entry[2])
            found[key] = entry[3].strip()
        elif inside and key is not None and line.strip():
            found[key] = f"{found[key]} {line.strip()}".strip()
    return found
