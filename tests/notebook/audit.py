"""What anybody needs of a page, whatever it shows, computed in the browser."""

AUDIT = """() => {
  const faults = [];
  const say = (what, element) => faults.push(`${what}: ${element.outerHTML.slice(0, 120)}`);
  const visible = (element) => element.checkVisibility({ visibilityProperty: true })
    && element.getClientRects().length > 0;
  const named = (element) => {
    const ids = (element.getAttribute("aria-labelledby") || "").split(" ").filter(Boolean);
    const texts = [element.getAttribute("aria-label"), element.title, element.placeholder,
      ...ids.map((id) => document.getElementById(id)?.textContent),
      ...[...(element.labels || [])].map((label) => label.textContent),
      ...[...element.querySelectorAll("img, [aria-label]")].map(
        (each) => each.alt || each.getAttribute("aria-label")),
      ["INPUT", "SELECT", "TEXTAREA"].includes(element.tagName) ? "" : element.textContent];
    return texts.some((text) => text && text.trim());
  };
  if (!document.documentElement.lang) faults.push("the page names no language");
  if (!document.title.trim()) faults.push("the page has no title");
  if (document.querySelectorAll("main, [role=main]").length !== 1) faults.push("not one main");
  const controls = [...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex='-1'])"
  )].filter((each) => each.type !== "hidden" && visible(each)
    && !each.closest("[aria-hidden=true]"));
  for (const each of controls) if (!named(each)) say("no name", each);
  for (const each of document.querySelectorAll("img")) {
    if (!each.hasAttribute("alt")) say("no alt", each);
  }
  for (const each of document.querySelectorAll("svg[role=img]")) {
    if (!each.getAttribute("aria-label")) say("no name", each);
  }
  let before = 0;
  for (const each of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    if (!visible(each)) continue;
    const level = Number(each.tagName[1]);
    if (level > before + 1) say(`a heading of level ${level} after ${before}`, each);
    before = level;
  }
  if (!document.querySelector("h1")) faults.push("no h1");
  const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
  for (const id of new Set(ids.filter((each, n) => ids.indexOf(each) !== n))) {
    faults.push(`two elements with the id ${id}`);
  }
  for (const each of document.querySelectorAll("th")) {
    if (visible(each) && each.closest(".sc") && !each.scope) say("no scope", each);
  }
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) faults.push(`${wide} px wider than the window`);
  return { controls: controls.length, faults };
}"""
"""Names of controls and pictures, order of headings, landmarks, ids, and nothing too wide."""
