"""The contrast of every visible text and line on its ground, computed in the browser."""

_COLOURS = """
  const parse = (text) => {
    const found = text.match(/rgba?\\(([^)]+)\\)/);
    if (!found) return null;
    const [r, g, b, a] = found[1].split(/[ ,\\/]+/).map(Number);
    return { r, g, b, a: a === undefined ? 1 : a };
  };
  const light = ({ r, g, b }) => {
    const part = (value) => {
      const v = value / 255;
      return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour && colour.a === 1) return colour;
    }
    return { r: 255, g: 255, b: 255, a: 1 };
  };
  const contrast = (front, back) => {
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
"""

CONTRAST = (
    f"""() => {{{_COLOURS}"""
    """
  const low = [];
  let seen = 0;
  const walk = document.createTreeWalker(document.querySelector(".sc"), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    let front, back;
    if (element.closest("svg")) {
      if (element.tagName === "title") continue;
      front = parse(style.fill);
      const box = element.closest(".sc-node")?.querySelector(".sc-box");
      back = box ? parse(getComputedStyle(box).fill) : ground(element.closest("svg").parentElement);
    } else {
      front = parse(style.color);
      back = ground(element);
    }
    seen += 1;
    const ratio = contrast(front, back);
    const name = element.className?.baseVal ?? element.className;
    if (ratio < 4.5) low.push([walk.currentNode.textContent.slice(0, 40), name, ratio]);
  }
  return { seen, low };
}"""
)


LINES = (
    f"""() => {{{_COLOURS}"""
    """
  const low = [];
  let seen = 0;
  const check = (element, text, back) => {
    const front = parse(text);
    if (!front || !front.a) return;
    seen += 1;
    const ratio = contrast(front, back);
    if (ratio < 3) low.push([element.className?.baseVal ?? element.className, text, ratio]);
  };
  for (const element of document.querySelectorAll(".sc, .sc *")) {
    if (!element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    if (element.closest("svg")) {
      const back = ground(element.closest("svg").parentElement);
      if (element.matches(".sc-line, .sc-box, .sc-outer")) check(element, style.stroke, back);
      if (element.matches(".sc-arrow")) check(element, style.fill, back);
      continue;
    }
    for (const side of ["Top", "Right", "Bottom", "Left"]) {
      const width = parseFloat(style[`border${side}Width`]);
      if (style[`border${side}Style`] === "none" || !width) continue;
      check(element, style[`border${side}Color`], ground(element.parentElement));
    }
  }
  return { seen, low };
}"""
)
"""Borders, and what the picture is drawn with: nodes, edges, arrows."""
