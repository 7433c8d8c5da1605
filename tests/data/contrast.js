// Returns the texts of a cell whose contrast to their ground is under 4.5 (WCAG 2.2, 1.4.3).
(root) => {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const bytes = (colour) => {
    probe.clearRect(0, 0, 1, 1);
    probe.fillStyle = colour;
    probe.fillRect(0, 0, 1, 1);
    return probe.getImageData(0, 0, 1, 1).data;
  };
  const light = (rgb) => {
    const [r, g, b] = [...rgb].slice(0, 3).map((byte) => byte / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    const box = element.closest("g.node")?.querySelector("rect");
    if (box) return bytes(getComputedStyle(box).fill);
    for (let at = element; at; at = at.parentElement) {
      const found = bytes(getComputedStyle(at).backgroundColor);
      if (found[3] === 255) return found;
    }
    return bytes("white");
  };
  const low = [];
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || !element.getClientRects().length) continue;
    if (element.tagName === "title") continue;
    const style = getComputedStyle(element);
    const pair = [light(bytes(element.closest("svg") ? style.fill : style.color)), light(ground(element))];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < 4.5) low.push([walk.currentNode.textContent.slice(0, 40), ratio]);
  }
  return low;
}
