// What is told of one step, as panels. Everything from outside becomes text nodes, never markup.

const LONG = 150;

function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value") element.value = value;
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== ""));
  return element;
}

function seconds(value) {
  if (value === null || value === undefined) return "";
  return value >= 1 ? `${value.toFixed(2)} s` : `${(value * 1000).toFixed(value < 0.01 ? 1 : 0)} ms`;
}

// -- panels ----------------------------------------------------------------------------------

function panel(name, title, ...content) {
  const kids = content.flat(Infinity).filter(Boolean);
  if (!kids.length) return null;
  return h("section", { class: `sc-panel sc-${name}`, "aria-label": title }, h("h3", {}, title), kids);
}

function value(tag, word, text) {
  return h(text === "nothing" ? "span" : tag, { class: text === "nothing" ? "sc-nothing" : null }, h("span", { class: "sc-sr" }, word), text);
}

function changeRow(change) {
  const by = [change.strategy, change.safety, change.rule].filter(Boolean).join(" · ");
  return h("li", { class: change.refused ? "sc-refused" : "" },
    h("code", { class: "sc-path" }, change.path),
    change.refused ? h("span", { class: "sc-tag sc-bad" }, "refused") : null,
    h("div", { class: "sc-diff" },
      value("del", "before ", change.before),
      h("span", { class: "sc-to", "aria-hidden": "true" }, "→"),
      value("ins", "after ", change.after)),
    h("p", { class: "sc-by" }, by, change.reason ? h("span", {}, ` — ${change.reason}`) : ""));
}

function changesOfRun(rows) {
  if (!rows || !rows.length) return null;
  return panel("run", `${rows.length} change${rows.length === 1 ? "" : "s"} of this run`, h("ul", { class: "sc-list" }, rows.map(changeRow)));
}

function changes(frame, over) {
  const rows = over ? [] : frame.changes.map(changeRow);
  const written = (frame.written || []).map(([path, before, after]) =>
    changeRow({ path, before, after, strategy: "", safety: "", rule: "", reason: "" }));
  const call = rows.length ? h("ul", { class: "sc-list" }, rows) : null;
  const state = written.length
    ? (over || rows.length || frame.findings.length
      ? h("details", {}, h("summary", {}, `${written.length} ${over ? "" : "more "}key${written.length === 1 ? "" : "s"} of the state`), h("ul", { class: "sc-list" }, written))
      : h("ul", { class: "sc-list" }, written))
    : null;
  return panel("change", "Change by this step", call, state);
}

function marked(finding) {
  const tints = finding.groups.map((group) => group[0]);
  return h("p", { class: "sc-text" }, finding.pieces.map(([text, mark]) => mark
    ? h("mark", { class: mark === "match" ? "sc-match" : `sc-group sc-tint${tints.indexOf(mark) % 5}`, title: mark }, text)
    : text));
}

function finding(item) {
  const sort = [item.kind, item.category].filter((word) => word && word !== "none").join(" · ");
  return h("li", {},
    h("p", { class: "sc-rule" },
      item.rule ? h("strong", {}, item.rule) : h("em", {}, item.open ? "error" : "no rule"),
      sort ? h("span", { class: "sc-tag" }, sort) : null,
      item.sure ? h("span", { class: "sc-muted" }, ` ${item.sure} `) : null,
      item.places.map((place) => h("code", { class: "sc-path" }, place))),
    marked(item),
    item.pattern ? h("p", { class: "sc-line-of" }, h("span", {}, "pattern"), h("code", {}, item.pattern)) : null,
    item.conditions.map(([name, value]) => h("p", { class: "sc-line-of" }, h("span", {}, name), h("code", {}, value))),
    item.groups.length ? h("table", { class: "sc-groups" },
      h("caption", { class: "sc-sr" }, "named groups"),
      h("tbody", {}, item.groups.map(([name, value], n) => h("tr", {},
        h("th", { scope: "row" }, h("span", { class: `sc-group sc-tint${n % 5}` }, name)), h("td", {}, value))))) : null,
    item.ladder.length ? h("p", { class: "sc-line-of" }, h("span", {}, "ladder"), item.ladder.join(" → ")) : null);
}

function why(frame) {
  const found = frame.findings.map(finding);
  const tried = frame.tried.map((item) => h("li", {},
    h("strong", {}, item.strategy), h("span", { class: "sc-tag" }, item.outcome),
    item.reason ? h("span", { class: "sc-muted" }, ` ${item.reason}`) : null));
  return panel("why", "Rule → strategy",
    found.length ? h("ul", { class: "sc-list" }, found) : null,
    tried.length ? h("ul", { class: "sc-list sc-tried" }, tried) : null);
}

function matches(query, ...texts) {
  return texts.join(" ").toLowerCase().includes(query.trim().toLowerCase());
}

function state(rows, over, query) {
  if (!rows || !rows.length) return null;
  const shown = rows.filter((row) => matches(query, ...row));
  const table = h("table", {}, h("tbody", {}, shown.map(([key, text]) =>
    h("tr", {}, h("th", { scope: "row" }, key), h("td", {}, folded(text, query))))));
  const told = `${rows.length} key${rows.length === 1 ? "" : "s"}`;
  return panel("state", "State", over ? h("details", { open: Boolean(query) }, h("summary", {}, h("span", {}, told)), table) : table);
}

function folded(text, query) {
  if (text.length <= LONG) return text;
  return h("details", { open: Boolean(query) }, h("summary", {}, h("span", {}, `${text.slice(0, LONG)}…`)), pretty(text));
}

// JSON with its parts on lines of their own; what was cut stays cut, and other texts as they are.
function pretty(text) {
  if (!/^[[{]/.test(text)) return text;
  let out = "";
  let depth = 0;
  let quoted = false;
  const line = () => `\n${"  ".repeat(depth)}`;
  for (let at = 0; at < text.length; at += 1) {
    const one = text[at];
    if (quoted) {
      out += one === "\\" ? one + (text[at += 1] ?? "") : one;
      quoted = one !== '"';
    } else if ("[{".includes(one) && !"]}".includes(text[at + 1])) {
      depth += 1;
      out += one + line();
    } else if ("]}".includes(one) && !"[{".includes(text[at - 1])) {
      depth = Math.max(0, depth - 1);
      out += line() + one;
    } else if (one === ",") {
      out += one + line();
      if (text[at + 1] === " ") at += 1;
    } else {
      out += one;
      quoted = one === '"';
    }
  }
  return out;
}

function cost(frame) {
  const model = frame.model || {};
  if (!model.calls) return null;
  const money = model.cost === null || model.cost === undefined ? "its price is unknown" : `cost ${model.cost}`;
  return panel("model", "Model", h("p", {},
    `${model.calls} call${model.calls === 1 ? "" : "s"} · ${model.input} tokens in · ${model.output} out · ${money}`,
    model.models && model.models.length ? h("span", { class: "sc-muted" }, ` ${model.models.join(", ")}`) : null));
}

function report(data) {
  if (!data) return null;
  return panel("report", `Report: ${data.reason}`,
    h("p", {}, data.detail),
    data.attempts.length ? h("table", { class: "sc-attempts" },
      h("thead", {}, h("tr", {}, ["attempt", "call", "outcome"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, data.attempts.map((item) => h("tr", {},
        h("td", {}, item.number), h("td", {}, h("code", {}, item.call)),
        h("td", {}, item.outcome, item.text ? h("p", { class: "sc-muted" }, item.text) : null))))) : h("p", { class: "sc-muted" }, "The tool was never called."),
    data.question ? h("p", {}, h("strong", {}, "Question: "), data.question) : null,
    data.advice.length ? h("ul", {}, data.advice.map((text) => h("li", {}, text))) : null);
}
