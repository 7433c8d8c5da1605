"""Writes a view as plain HTML, without style and script: for outputs that are kept."""

from html import escape

from selfcorrect.drawing.html import table
from selfcorrect.drawing.svg import draw, img
from selfcorrect.drawing.text import moment_text
from selfcorrect.drawing.view import View


def still(view: View) -> str:
    """Return a view as HTML: the picture as an image, the steps, changes, question and end."""
    steps = "".join(f"<li>{escape(moment_text(each))}</li>" for each in view["timeline"])
    detail, question = view["detail"], view["question"]
    changes = detail["changes"] if detail else []
    rows = [(each["place"], each["before"], each["after"], each["strategy"]) for each in changes]
    asked = {"question": question["question"]} if question else {}
    error = {"error": detail["error"]} if detail and detail["error"] else {}
    return (
        f"<p><b>{escape(view['title'])}</b>: {escape(view['sentence'])}</p>"
        f"{img(draw(view['picture']))}<ol>{steps}</ol>"
        f"{table(('change', 'before', 'after', 'strategy'), rows)}"
        f"{table(('end', ''), (error | asked | view['outcome']).items())}"
    )
