"""What is shown of a run, as JSON: one view for the widget, the page, the SVG and the terminal.

Everything in it has left through `selfcorrect.text`: bounded, redacted, without control characters.
Places and sizes are pixels.
"""

from typing import Literal, TypeAlias, TypedDict

from selfcorrect.model import JsonDict

Status: TypeAlias = Literal[
    "ready",  # nothing has run yet
    "running",
    "paused",  # before the next node: a step, a breakpoint, or Pause
    "waiting",  # a person is asked
    "error",  # a node raised; a step tries it again
    "finished",
    "failed",  # the run ended in its report
    "past",  # the head stands before the newest step; a step forks
]


class ViewNode(TypedDict):
    """A node of the picture.

    Attributes:
        id: Its name.
        x: Of its centre; likewise `y`.
        width: Of its box; likewise `height`.
        visits: How often the run was there.
        mark: `current` ran last, `next` runs next.
        is_breakpoint: Whether a run stops before it.
    """

    id: str
    x: float
    y: float
    width: float
    height: float
    visits: int
    mark: Literal["", "current", "next"]
    is_breakpoint: bool


class ViewEdge(TypedDict):
    """An edge of the picture.

    Attributes:
        source: Where it begins; likewise `target`.
        label: The outcomes that take it.
        points: Its corners, from border to border.
        count: How often the run took it.
    """

    source: str
    target: str
    label: str
    points: list[tuple[float, float]]
    count: int


class Picture(TypedDict):
    """A graph with the path taken."""

    nodes: list[ViewNode]
    edges: list[ViewEdge]
    width: float
    height: float


class Moment(TypedDict):
    """One step of the history.

    Attributes:
        id: Names it for `goto`: LangGraph's id of the checkpoint, or its number in a recorded run.
        node: The node that ran; empty for the input.
        outcome: What it came to.
        kind: Whether an input came in, a node ran, or a person edited.
        is_left: Whether it stands on a branch that the head has left.
        is_head: Whether the head is behind it.
    """

    id: str
    node: str
    outcome: str
    kind: Literal["input", "step", "edit"]
    is_left: bool
    is_head: bool


class ViewChange(TypedDict):
    """An edit of the call, as texts; an empty text stands for no value."""

    place: str
    before: str
    after: str
    safety: str
    strategy: str
    rule: str


class Match(TypedDict):
    """Why a rule decided.

    Attributes:
        rule: Its name.
        text: What the error says.
        captures: What the named groups of its pattern matched.
        ladder: The strategies that it lists.
    """

    rule: str
    text: str
    captures: dict[str, str]
    ladder: list[str]


class Detail(TypedDict):
    """What the node in front of the head did."""

    changes: list[ViewChange]
    matches: list[Match]
    tried: list[dict[str, str]]
    error: str


class View(TypedDict):
    """Everything that is shown at one moment.

    Attributes:
        title: What the run is about: the tool, or the graph's name.
        status: Where the run stands.
        sentence: The same for people, with what to do.
        picture: The graph.
        timeline: All steps, oldest first.
        detail: What the step in front of the head did.
        changes: All changes up to the head.
        state: The state at the head, each key with its JSON as a text.
        question: What a person is asked: `id`, `question`, `options`; None without a question.
        outcome: The result or the report, as `{name: text}`; empty while the run goes on.
        commands: What can be done now.
    """

    title: str
    status: Status
    sentence: str
    picture: Picture
    timeline: list[Moment]
    detail: Detail
    changes: list[ViewChange]
    state: dict[str, str]
    question: JsonDict | None
    outcome: dict[str, str]
    commands: list[str]
