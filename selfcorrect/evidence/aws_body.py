"""AWS: `{"__type": "…#Name", "message"}` of its JSON protocols, `{"Error": {"Code"}}` of others."""

from __future__ import annotations

from collections.abc import Mapping

from selfcorrect.model import JSON, Finding


def read(body: JSON) -> tuple[Finding, ...]:
    """One finding; nothing if the body is something else."""
    if not isinstance(body, Mapping):
        return ()
    inner = body.get("Error")
    if isinstance(inner, Mapping) and isinstance(inner.get("Code"), str):
        return (Finding(text=str(inner.get("Message") or inner["Code"]), code=inner["Code"]),)
    name = body.get("__type")
    if not isinstance(name, str):
        return ()
    code = name.rpartition("#")[2].partition(":")[0]
    text = next((body[k] for k in ("message", "Message", "errorMessage") if body.get(k)), code)
    return (Finding(text=str(text), code=code),)
