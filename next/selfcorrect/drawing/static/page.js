"use strict";
// Steps through the views of each run. Every text is set as text, never as markup.
function make(tag, text, parent) {
  const made = document.createElement(tag);
  if (text !== null) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}
function button(text, parent, act) {
  const made = make("button", text, parent);
  made.type = "button";
  made.onclick = act;
  return made;
}
function table(title, rows, parent, names) {
  if (!rows.length) return;
  make("h2", title, parent);
  const made = make("table", null, parent);
  if (names) {
    const head = make("tr", null, make("thead", null, made));
    for (const name of names) make("th", name, head);
  }
  const body = make("tbody", null, made);
  for (const row of rows) {
    const line = make("tr", null, body);
    for (const text of row) make("td", text, line);
  }
}
function paint(picture, [nodes, edges]) {
  picture.querySelectorAll(".node").forEach((group, i) => {
    const [mark, visited, note] = nodes[i];
    group.setAttribute("class", ["node", mark, visited ? "visited" : ""].join(" "));
    const part = (name) => group.querySelector(name);
    part(".note").textContent = note;
    part("title").textContent = part(".name").textContent + " " + note;
  });
  picture.querySelectorAll(".edge").forEach((group, i) => {
    group.setAttribute("class", edges[i][0] ? "edge taken" : "edge");
    group.querySelector("text").textContent = edges[i][1];
  });
}
function tell({ detail, state }, place, names) {
  place.replaceChildren();
  table("State", Object.entries(state), place);
  if (!detail) return;
  if (detail.error) make("p", detail.error, place).className = "error quote";
  for (const match of detail.matches) {
    make("p", "Rule " + match.rule + (match.pattern ? ": " + match.pattern : ""), place);
    const quote = make("p", null, place);
    quote.className = "quote";
    for (const [text, name] of match.parts) {
      const part = make(name ? "mark" : "span", text, quote);
      if (name) part.title = name;
    }
    if (match.ladder.length) make("p", "Strategies: " + match.ladder.join(", "), place);
  }
  const rows = detail.changes.map((change) => names.map((name) => change[name]));
  table("Changes in this step", rows, place, names);
  table("Tried", detail.tried.map(Object.values), place);
}
function play(article) {
  const { names, views } = JSON.parse(article.querySelector("script").textContent);
  const part = (name) => article.querySelector("." + name);
  const keys = part("keys");
  let at = views.length - 1;
  const back = button("← Back", keys, () => go(at - 1));
  const forward = button("Next →", keys, () => go(at + 1));
  const count = make("span", "", keys);
  const steps = [...part("steps").children].map((item, i) => {
    const text = item.textContent;
    item.textContent = "";
    return button(text, item, () => {
      const found = views.findIndex((view) => view.timeline === i);
      if (found >= 0) go(found);
    });
  });
  function go(to) {
    if (to < 0 || to >= views.length) return;
    at = to;
    const view = views[at];
    part("status").textContent = view.sentence;
    count.textContent = `${at + 1} of ${views.length}`;
    back.disabled = at === 0;
    forward.disabled = at === views.length - 1;
    paint(part("picture"), view.picture);
    tell(view, part("step"), names);
    steps.forEach((each, i) => {
      each.removeAttribute("aria-current");
      if (i !== view.timeline) return;
      each.setAttribute("aria-current", "step");
      part("steps").scrollTop = each.offsetTop - 60;
    });
  }
  article.go = (by) => go(at + by);
  go(at);
}
document.querySelectorAll("article").forEach(play);
document.addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  const inside = document.activeElement.closest("details");
  (inside ?? document.querySelector("details[open]"))?.querySelector("article").go(by);
});
