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

BLENDED = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parse = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] + below[i] * (1 - top[3]));
  const upwards = function* (element) {
    for (let at = element; at; at = at.parentElement) yield [at, getComputedStyle(at)];
  };
  const ground = (element) => {
    const layers = [];
    for (const [, style] of upwards(element)) {
      layers.push(parse(style.backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    return layers.reduceRight((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const light = (colour) => {
    const part = (value) => {
      const v = value / 255;
      return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part(colour[0]) + 0.7152 * part(colour[1]) + 0.0722 * part(colour[2]);
  };
  const low = new Map();
  let seen = 0;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    const box = element.getBoundingClientRect();
    const shown = { opacityProperty: true, visibilityProperty: true };
    if (!walk.currentNode.data.trim() || box.width < 2 || !element.checkVisibility(shown)) continue;
    const [r, g, b, a] = parse(getComputedStyle(element).color);
    const opacity = [...upwards(element)].reduce((sum, [, style]) => sum * style.opacity, a);
    const back = ground(element);
    const [one, two] = [over([r, g, b, opacity], back), back].map(light).sort((x, y) => y - x);
    seen += 1;
    const ratio = (one + 0.05) / (two + 0.05);
    if (ratio < 4.5) {
      const name = `${element.tagName} ${element.className}`;
      low.set(name, [name, walk.currentNode.data.trim().slice(0, 40), ratio]);
    }
  }
  return { seen, low: [...low.values()] };
}"""
"""The same for whole pages, whose colours may let those below them through."""

WIDE = """() => {
  const scrolls = (element) => {
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      if (["auto", "scroll", "hidden"].includes(getComputedStyle(at).overflowX)) return true;
    }
    return false;
  };
  return [...document.querySelectorAll("body *")]
    .filter((each) => each.checkVisibility() && each.getBoundingClientRect().width > innerWidth)
    .filter((each) => !scrolls(each))
    .map((each) => each.outerHTML.slice(0, 100));
}"""
"""What is wider than the window, and does not scroll by itself."""
