"""Checkpointers that only know one way of waiting, used in the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any


async def asynchronous_saver(saver: Any, config: Mapping[str, Any]) -> Any:
    """The checkpointer itself, or one around it where it can only be called synchronously."""
    try:
        await saver.aget_tuple(config)
    except NotImplementedError:
        return _wrapped(saver)
    return saver


def _wrapped(saver: Any) -> Any:
    from langgraph.checkpoint.base import BaseCheckpointSaver

    class Synchronous(BaseCheckpointSaver[Any]):
        """Calls a synchronous checkpointer; the loop that waits for it does nothing else."""

        def __init__(self) -> None:
            super().__init__(serde=saver.serde)

        def get_next_version(self, current: Any, channel: Any) -> Any:
            return saver.get_next_version(current, channel)

        def get_tuple(self, config: Any) -> Any:
            return saver.get_tuple(config)

        async def aget_tuple(self, config: Any) -> Any:
            return saver.get_tuple(config)

        async def alist(self, config: Any, **options: Any) -> AsyncIterator[Any]:
            for item in saver.list(config, **options):
                yield item

        async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
            return saver.put(config, checkpoint, metadata, new_versions)

        async def aput_writes(
            self, config: Any, writes: Any, task_id: str, task_path: str = ""
        ) -> None:
            saver.put_writes(config, writes, task_id, task_path)

        async def adelete_thread(self, thread_id: str) -> None:
            saver.delete_thread(thread_id)

    return Synchronous()
