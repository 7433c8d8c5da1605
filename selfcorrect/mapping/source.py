"""What the source of a map's Python says of its strategies. Nothing of it is imported or run."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from selfcorrect.hints import near
from selfcorrect.mapping.files import referred

_NAMED: Final[Mapping[str, Any]] = {
    each.__name__: each for each in (int, float, str, bool, list, tuple, dict)
}
_OPEN: Final = inspect.Signature(
    [inspect.Parameter("options", inspect.Parameter.VAR_KEYWORD, annotation=Any)]
)
_KNOWN_DECORATORS: Final = ("dataclass", "strategy")


def read_object(reference: str, folder: Path) -> Callable[..., Any]:
    """What stands for the object that `./file.py:Object` names: it takes the same options.

    Where the source does not show which options these are, it takes any.

    Raises:
        LookupError: If there is no such file or object, or the file is no Python.
    """
    path, source, name = referred(reference, folder)
    try:
        module = ast.parse(source, str(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) else ""
        raise LookupError(f"{path.name}{line}: {type(error).__name__}: {error}") from None
    found = _defined(module)
    if name not in found and "*" not in found:
        hint = near(name, [item for item in found if not item.startswith("_")])
        raise LookupError(f"{path.name} has no {name!r}" + (f"; {hint}" if hint else ""))
    return stand_in(name, _signature(found.get(name)))


def _defined(module: ast.Module) -> dict[str, ast.stmt]:
    """The names that a module's source gives something to, wherever outside functions."""
    found: dict[str, ast.stmt] = {}
    blocks: list[ast.stmt] = list(module.body)
    for item in blocks:  # and whatever is added on the way
        match item:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found[item.name] = item
                continue
            case ast.Import() | ast.ImportFrom():
                names = [alias.asname or alias.name.partition(".")[0] for alias in item.names]
            case _:
                nodes = [node for node in ast.iter_child_nodes(item) if not _is_block(node)]
                inner = (each for node in nodes for each in ast.walk(node))
                names = [
                    each.id
                    for each in inner
                    if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
                ]
                blocks += [each for each in ast.walk(item) if _is_block(each) and each is not item]  # type: ignore[misc]
        found |= dict.fromkeys(names, item)
    return found


def _is_block(node: ast.AST) -> bool:
    return isinstance(node, ast.stmt)


def _signature(item: ast.stmt | None) -> inspect.Signature:
    match item:
        case ast.FunctionDef() | ast.AsyncFunctionDef() if _plain(item.decorator_list):
            return _of_arguments(item.args, skip=0)
        case ast.ClassDef() if _plain(item.decorator_list) and not item.keywords:
            return _of_class(item)
        case _:
            return _OPEN


def _plain(decorators: list[ast.expr]) -> bool:
    """Whether these decorators leave what is called as it is."""
    targets = [each.func if isinstance(each, ast.Call) else each for each in decorators]
    return all(ast.unparse(each).rpartition(".")[2] in _KNOWN_DECORATORS for each in targets)


def _of_class(item: ast.ClassDef) -> inspect.Signature:
    if any(ast.unparse(base) not in ("object", "Strategy", "Protocol") for base in item.bases):
        return _OPEN
    for each in item.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            return _of_arguments(each.args, skip=1) if not each.decorator_list else _OPEN
    is_dataclass = any("dataclass" in ast.unparse(each) for each in item.decorator_list)
    if not is_dataclass:
        return inspect.Signature()
    fields = [
        inspect.Parameter(
            each.target.id,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.value is None else None,
            annotation=_hint(each.annotation),
        )
        for each in item.body
        if isinstance(each, ast.AnnAssign)
        and isinstance(each.target, ast.Name)
        and "ClassVar" not in ast.unparse(each.annotation)
    ]
    return inspect.Signature(fields)


def _of_arguments(given: ast.arguments, *, skip: int) -> inspect.Signature:
    kinds = inspect.Parameter
    places = [*given.posonlyargs, *given.args]
    required = len(places) - len(given.defaults)
    out = [
        _parameter(
            each,
            kinds.POSITIONAL_ONLY if n < len(given.posonlyargs) else kinds.POSITIONAL_OR_KEYWORD,
            required=n < required,
        )
        for n, each in enumerate(places)
    ][skip:]
    if given.vararg:
        out.append(_parameter(given.vararg, kinds.VAR_POSITIONAL, required=True))
    out += [
        _parameter(each, kinds.KEYWORD_ONLY, required=default is None)
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    if given.kwarg:
        out.append(_parameter(given.kwarg, kinds.VAR_KEYWORD, required=True))
    return inspect.Signature(out)


def _parameter(item: ast.arg, kind: Any, *, required: bool) -> inspect.Parameter:
    default = inspect.Parameter.empty if required else None
    return inspect.Parameter(item.arg, kind, default=default, annotation=_hint(item.annotation))


def _hint(annotation: ast.expr | None) -> Any:
    """The type that an annotation plainly names; `Any` for all others."""
    match annotation:
        case ast.Name(id=name) if name in _NAMED:
            return _NAMED[name]
        case ast.Constant(value=None):
            return type(None)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _hint(left) | _hint(right) if Any not in (_hint(left), _hint(right)) else Any
        case _:
            return Any


def stand_in(name: str, signature: inspect.Signature = _OPEN) -> Callable[..., Any]:
    """What takes the options of a strategy that is not loaded, and does nothing."""

    def unread(call: Any, diagnosis: Any, context: Any) -> Any:  # noqa: ARG001 -- a strategy's
        raise RuntimeError(f"{name} was not loaded")

    def made(*call: Any, **_: Any) -> Any:
        return unread(*call) if call else unread

    made.__name__ = made.__qualname__ = name
    made.__signature__ = signature  # type: ignore[attr-defined]
    made.__annotations__ = {
        each.name: each.annotation
        for each in signature.parameters.values()
        if each.kind is not each.VAR_KEYWORD and each.annotation is not each.empty
    }
    return made
