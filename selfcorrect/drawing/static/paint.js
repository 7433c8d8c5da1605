"use strict";
// Paints a view. Every text is set as text, never as markup.

function make(tag, text, parent, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== null) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (parent) parent.append(made);
  return made;
}

function button(text, parent, act, attributes = {}) {
  const made = make("button", text, parent, { type: "button", ...attributes });
  if (act) made.onclick = act;
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

function paint(picture, { nodes, edges }) {
  picture.querySelectorAll(".node").forEach((group, i) => {
    const { mark, visits, note } = nodes[i];
    group.setAttribute("class", ["node", mark, visits ? "visited" : ""].join(" "));
    const part = (name) => group.querySelector(name);
    part(".note").textContent = note;
    part("title").textContent = part(".name").textContent + " " + note;
  });
  picture.querySelectorAll(".edge").forEach((group, i) => {
    group.setAttribute("class", edges[i].count ? "edge taken" : "edge");
    group.querySelector("text").textContent = edges[i].label;
  });
}

function tell({ detail, state, outcome }, place) {
  const isOpen = place.querySelector("details")?.open;
  place.replaceChildren();
  if (detail?.error) make("p", detail.error, place, { class: "error quote" });
  table("End", Object.entries(outcome), place);
  if (detail) {
    const rows = detail.changes.map(({ place: where, before, after, strategy, safety, rule }) =>
      [where, before, after, [strategy, safety, rule].filter(Boolean).join(", ")]);
    table("Changes in this step", rows, place, ["place", "before", "after", "by"]);
    for (const match of detail.matches) explain(match, place);
    const looked = ({ strategy, rule, path, outcome, reason }) =>
      [strategy, [rule, path].filter(Boolean).join(" at "), [outcome, reason].filter(Boolean).join(": ")];
    table("Tried", detail.tried.map(looked), place);
  }
  const more = make("details", null, place);
  make("summary", "State", more);
  table("", Object.entries(state), more);
  more.open = isOpen;
}

function explain({ rule, text, captures, ladder }, place) {
  make("h2", rule ? "Rule " + rule : "Error", place);
  make("p", text, place, { class: "quote" });
  table("", Object.entries(captures), place, ["group", ""]);
  if (ladder.length) make("p", "Strategies: " + ladder.join(", "), place);
}
