"""The tools, the scripted turns and the behaviours that every framework is tried with."""

import json
import tomllib
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("behaviours.toml")
BEHAVIOURS = tomllib.loads(FILE.read_text("utf-8"))
EFFECTS = {"find": "read_only"}


class World:
    """What the tools did and the model read, in one run.

    Attributes:
        turns: What the model writes, in order; then it says "done".
        ran: The executions: a tool and its arguments.
        read: All texts that the model was given.
        gated: The calls that a gate of the framework has judged.
        end: What the run ended with: a text, or an exception as a text.
    """

    def __init__(self, behaviour):
        self.turns = [*behaviour["turns"]]
        self._plays = [*behaviour.get("plays", ())]
        self.ran, self.read, self.gated, self.end = [], [], [], ""

    def next_turn(self, *texts):
        """Return what the model writes when it reads these texts."""
        self.read += map(str, texts)
        return self.turns.pop(0) if self.turns else {"text": "done"}

    def judge(self, name, args):
        """Note a call that a gate of the framework lets pass."""
        self.gated.append(written(name, args))

    def play(self, name, **args):
        self.ran.append(written(name, args))
        if self._plays and self._plays.pop(0) == "timeout":
            raise TimeoutError("no answer within 30 s")
        return "ok"

    def pay(self, to: str, amount: int, note: str | None = None) -> str:
        """Pay somebody."""
        return self.play("pay", to=to, amount=amount, note=note)

    def mail(self, to: str, text: str) -> str:
        """Send a mail."""
        return self.play("mail", to=to, text=text)

    def find(self, query: str, n: int | None = None) -> str:
        """Find something."""
        return self.play("find", query=query, n=n)

    @property
    def tools(self):
        return [self.pay, self.mail, self.find]


def written(name, args):
    """Return a call without the arguments that were left out."""
    return [name, {key: item for key, item in args.items() if item is not None}]


def text_of(args):
    """Return arguments as a provider sends them."""
    return args if isinstance(args, str) else json.dumps(args)


def each_behaviour(otherwise):
    """Run a test with the name of each behaviour.

    Args:
        otherwise: What a framework cannot do, or does in another way, with the reason.
    """
    assert otherwise.keys() <= BEHAVIOURS.keys()
    return pytest.mark.parametrize("name", sorted(BEHAVIOURS.keys() - otherwise.keys()))


def check(name, run):
    """Run a behaviour, and compare what was executed and read."""
    behaviour = BEHAVIOURS[name]
    world = World(behaviour)
    run(world, stream=behaviour.get("stream", False), gate=behaviour.get("gate", False))
    # Calls of one turn may run side by side.
    assert sorted(world.ran, key=str) == sorted(behaviour["ran"], key=str), world.end
    assert behaviour.get("reads", "") in "\n".join(world.read)
    assert behaviour.get("ends", "") in world.end
    if behaviour.get("gate"):
        assert world.gated == behaviour["ran"], world.gated
