// The stepper in a page. It paints the view model that Python makes and sends commands back;
// it decides nothing. Everything from outside becomes text nodes, never markup.

const FORMAT = 1;
const PATIENCE = 6000;
const KEYS = [
  ["n →", "step"], ["r", "run"], ["p", "pause"], ["b ←", "back"], ["e", "edit and fork"],
  [".", "breakpoint on the next node"], ["a", "answer"], ["Shift+R", "restart"], ["x", "export"],
  ["Enter", "on a node: breakpoint; on the timeline: go there"], ["Ctrl+Enter", "send a form"],
  ["/", "search steps and state"],
  ["Esc", "close"], ["?", "this list"],
];
const REPLAY_KEYS = [
  ["n →", "next step"], ["b ←", "step before"], ["r", "to the end"], ["Shift+R", "to the start"],
  ["Enter", "on the timeline: go there"], ["/", "search steps and state"], ["Esc", "close"], ["?", "this list"],
];

function told(item) {
  return [item.label, item.title, item.tone === "error" && "error",
    item.tone === "held" && !/not called/.test(item.title) && "not called",
    item.kind === "edit" && "edit by hand", item.left && "not on this branch",
    item.replayed && "replayed", seconds(item.seconds)].filter(Boolean).join(", ");
}

class Painter {
  constructor(root, graph, send, options = {}) {
    this.root = root;
    this.graph = graph;
    this.send = send;
    this.options = options;
    this.open = "";
    this.draft = null;
    this.problem = "";
    this.build();
  }

  build() {
    const button = (name, key) => h("button", {
      type: "button", class: `sc-button sc-do-${name}`, "data-key": `do-${name}`, "aria-keyshortcuts": key,
      onclick: () => this.act(name),
    });
    this.buttons = {};
    const keys = { step: "n", run: "r", pause: "p", back: "b", edit: "e", answer: "a", restart: "Shift+R" };
    for (const name of Object.keys(keys)) this.buttons[name] = button(name, keys[name]);
    const tools = this.options.replay ? ["back", "step", "run", "restart"] : Object.keys(keys);
    this.exports = h("button", { type: "button", class: "sc-button", "data-key": "export", "aria-keyshortcuts": "x", title: "Save this run (x)", onclick: () => this.toggle("export") }, "Export");
    this.help = h("button", { type: "button", class: "sc-button sc-round", "data-key": "help", "aria-keyshortcuts": "?", "aria-label": "Help: keys", title: "Keys (?)", onclick: () => this.toggle("help") }, "?");
    this.find = h("input", { type: "search", class: "sc-find", "data-key": "find", "aria-keyshortcuts": "/", "aria-label": "Search steps and state", placeholder: "Search ( / )", oninput: () => this.search() });
    this.found = h("span", { class: "sc-muted sc-found", "aria-live": "polite" });
    this.status = h("div", { class: "sc-status", role: "status", "aria-live": "polite" });
    this.alert = h("div", { class: "sc-alert", role: "alert", id: `sc-alert-${Math.random().toString(36).slice(2)}` });
    this.above = h("div", { class: "sc-above" });
    this.picture = h("div", { class: "sc-graph" });
    this.panels = h("div", { class: "sc-panels" });
    this.time = h("div", { class: "sc-time", role: "group", "aria-label": "Timeline" });
    this.head = h("h2", { class: "sc-title" });
    this.root.classList.add("sc");
    this.root.tabIndex = 0;
    this.root.setAttribute("role", "group");
    this.root.replaceChildren(
      this.options.contents || "",
      h("div", { class: "sc-head" }, this.head, this.status),
      h("div", { class: "sc-bar", role: "toolbar", "aria-label": "Commands" },
        tools.map((name) => this.buttons[name]), h("span", { class: "sc-gap" }),
        this.found, this.find, this.options.replay ? "" : this.exports, this.help),
      this.alert, this.above,
      h("div", { class: "sc-body" }, this.picture, this.panels), this.time);
    const parsed = new DOMParser().parseFromString(this.graph.svg, "image/svg+xml").documentElement;
    this.svg = document.importNode(parsed, true);
    this.svg.style.maxWidth = `${1.2 * this.svg.getAttribute("width")}px`;
    this.picture.replaceChildren(this.svg);
    for (const node of this.svg.querySelectorAll(".sc-node[tabindex]")) {
      const press = () => this.send({ do: "break", node: node.dataset.node });
      if (this.options.replay) { node.removeAttribute("tabindex"); node.removeAttribute("role"); continue; }
      node.addEventListener("click", press);
      node.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); press(); }
      });
    }
    this.root.addEventListener("keydown", (event) => this.key(event));
    // Notebook 7 takes its one-letter commands before they get here: it leaves alone what asks so.
    this.guard = (event) => {
      if (this.root.contains(event.target)) this.root.toggleAttribute("data-lm-suppress-shortcuts", this.isOurs(event));
    };
    window.addEventListener("keydown", this.guard, true);
  }

  dispose() {
    window.removeEventListener("keydown", this.guard, true);
  }

  isOurs(event) {
    const sends = (event.ctrlKey || event.metaKey) && event.key === "Enter" && this.open === "edit";
    return sends || !(event.ctrlKey || event.metaKey || event.altKey);
  }

  paint(view) {
    if (view.format !== FORMAT) {
      this.root.replaceChildren(h("p", { class: "sc-alert" }, `This view is of format ${view.format}; reload the page.`));
      return;
    }
    const focused = this.root.contains(document.activeElement) && document.activeElement.dataset.key;
    const moved = !this.view || this.view.frame.id !== view.frame.id;
    if (moved && this.open === "edit") this.close();
    this.view = view;
    this.head.textContent = view.title;
    this.root.setAttribute("aria-label", `${this.options.replay ? "Replay" : "Stepper"}: ${view.title}`);
    this.setStatus(view.status.state, view.status.tone, view.status.text);
    this.setAlert(view.alert);
    for (const [name, button] of Object.entries(this.buttons)) {
      const action = view.actions[name];
      if (!action) { button.hidden = true; continue; }
      const shortcut = button.getAttribute("aria-keyshortcuts");
      button.textContent = action.label;
      button.title = `${action.hint} (${shortcut})`;
      button.disabled = !action.on;
      button.hidden = (name === "answer" || name === "pause") && !action.on;
    }
    this.marks(view.marks);
    this.paintAbove();
    this.paintPanels();
    this.paintTime(moved);
    this.count();
    if (focused) {
      const again = [...this.root.querySelectorAll("[data-key]")].find((one) => one.dataset.key === focused);
      (again && !again.disabled && !again.hidden ? again : this.root).focus({ preventScroll: true });
    }
  }

  setStatus(state, tone, text) {
    this.root.dataset.state = state;
    this.status.className = `sc-status sc-tone-${tone}`;
    if (this.status.textContent !== text) this.status.replaceChildren(h("span", { class: "sc-dot-of", "aria-hidden": "true" }), text);
  }

  setAlert(text) {
    this.problem = text;
    this.alert.textContent = text;
    this.alert.hidden = !text;
  }

  marks(marks) {
    const names = this.graph.nodes;
    for (const node of this.svg.querySelectorAll(".sc-node")) {
      const name = node.dataset.node;
      const count = marks.visits[name] || 0;
      const is = (list) => list.includes(name);
      const stops = is(marks.breakpoints);
      node.setAttribute("class", ["sc-node", count && "sc-visited", is(marks.current) && "sc-current", is(marks.next) && "sc-next", stops && "sc-stops"].filter(Boolean).join(" "));
      node.querySelector(".sc-dot").setAttribute("r", stops ? 5 : 0);
      const badge = node.querySelector(".sc-visits");
      badge.textContent = count && node.hasAttribute("tabindex") | this.options.replay && !name.startsWith("__") ? count : "";
      const told = [`${names[name]}`, `ran ${count} time${count === 1 ? "" : "s"}`, is(marks.current) && "ran last", is(marks.next) && "runs next", stops && "breakpoint"];
      node.setAttribute("aria-label", told.filter(Boolean).join(", "));
      if (node.hasAttribute("tabindex")) { node.setAttribute("aria-pressed", String(stops)); node.dataset.key = `node-${name}`; }
    }
    const above = this.svg.querySelector(".sc-node");
    for (const edge of this.svg.querySelectorAll(".sc-edge")) {
      const data = this.graph.edges[edge.dataset.edge];
      const count = marks.ways[edge.dataset.edge] || 0;
      edge.setAttribute("class", ["sc-edge", data.rare && "sc-rare", count && "sc-taken"].filter(Boolean).join(" "));
      const label = (data.rare && !count ? "" : data.label).replaceAll("_", " ");
      const text = edge.querySelector(".sc-label");
      text.textContent = count ? `${label} ×${count}`.trim() : label;
      const width = text.textContent ? 6 * text.textContent.length + 4 : 0;
      const under = edge.querySelector(".sc-under");
      under.setAttribute("width", width);
      under.setAttribute("x", text.getAttribute("x") - width / 2);
      if (count) this.svg.insertBefore(edge, above);
    }
  }

  paintAbove() {
    const { view } = this;
    const parts = [];
    if (view.second && view.second.needs_word) {
      parts.push(h("div", { class: "sc-card sc-warn", role: "alertdialog", "aria-label": "Confirm a second execution" },
        h("p", {}, view.second.text, "."),
        h("div", { class: "sc-row" },
          h("button", { type: "button", class: "sc-button", "data-key": "confirm", onclick: () => this.send({ do: "step", confirm: true }) }, "Run it a second time"))));
    } else if (view.second && !this.options.replay) {
      parts.push(h("div", { class: "sc-card sc-note" }, h("p", {}, view.second.text, "."),
        h("button", { type: "button", class: "sc-link", "data-key": "confirm", onclick: () => this.toggle("confirm") }, "Execute it again instead…"),
        this.open === "confirm" ? h("div", { class: "sc-row" }, h("p", {}, h("strong", {}, "This is a second execution. It cannot be undone here.")),
          h("button", { type: "button", class: "sc-button sc-danger", "data-key": "really", onclick: () => { this.close(); this.send({ do: "step", confirm: true }); } }, "Yes, execute a second time"),
          h("button", { type: "button", class: "sc-button", "data-key": "no", onclick: () => this.close() }, "No")) : null));
    }
    if (view.question) parts.push(this.questionCard(view.question));
    if (this.open === "edit" && view.form) parts.push(this.editCard(view.form));
    if (this.open === "export") parts.push(h("div", { class: "sc-card", role: "group", "aria-label": "Export" }, h("div", { class: "sc-row" },
      ["html", "svg", "json", "mermaid"].map((form) => h("button", { type: "button", class: "sc-button", "data-key": `export-${form}`, onclick: () => { this.close(); this.send({ do: "export", form }); } }, form === "html" ? "HTML replay" : form.toUpperCase())))));
    if (this.open === "help") parts.push(h("div", { class: "sc-card", role: "group", "aria-label": "Keys" }, h("ul", { class: "sc-keys" },
      (this.options.replay ? REPLAY_KEYS : KEYS).map(([key, text]) => h("li", {},
        h("span", {}, key.split(" ").map((one) => h("kbd", {}, one))), h("span", {}, text))))));
    this.above.replaceChildren(...parts);
  }

  questionCard(question) {
    const field = h("input", { type: "text", "data-key": "answer-field", "aria-label": "Your answer", placeholder: question.ours ? "a value: 2, or text" : "JSON, or text", value: this.answerDraft || "", oninput: (event) => { this.answerDraft = event.target.value; } });
    const send = () => { if (field.value.trim()) { this.answerDraft = ""; this.send({ do: "answer", text: field.value }); } };
    field.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); send(); } });
    return h("div", { class: "sc-card sc-warn", role: "group", "aria-label": "Question" },
      h("p", { class: "sc-question" }, question.text),
      question.options.length ? h("div", { class: "sc-row" }, question.options.map((option, choice) =>
        h("button", { type: "button", class: "sc-button", "data-key": `option-${choice}`, onclick: () => this.send({ do: "answer", choice }) }, option))) : null,
      h("div", { class: "sc-row" }, field,
        h("button", { type: "button", class: "sc-button sc-main", "data-key": "answer-send", onclick: send }, "Answer"),
        question.ours ? h("button", { type: "button", class: "sc-button", "data-key": "answer-reject", onclick: () => this.send({ do: "answer", reject: true }) }, "Reject") : null));
  }

  editCard(form) {
    if (this.draft === null) this.draft = { text: form.text, strategy: form.strategy, options: form.options[form.strategy] };
    const wrong = this.problem ? (/^(options|strategy)\b/.test(this.problem) ? "options" : "text") : "";
    const about = (field) => (field === wrong ? { "aria-invalid": "true", "aria-describedby": this.alert.id } : {});
    const area = h("textarea", { "data-key": "edit-text", rows: Math.min(14, Math.max(4, form.text.split("\n").length + 1)), spellcheck: "false", "aria-label": form.subject === "args" ? "Arguments as JSON" : "State as JSON", ...about("text"), oninput: (event) => { this.draft.text = event.target.value; } });
    area.value = this.draft.text;
    const select = form.strategies.length ? h("select", { "data-key": "edit-strategy", "aria-label": "Strategy", onchange: (event) => { this.draft.strategy = event.target.value; options.value = this.draft.options = form.options[this.draft.strategy]; } },
      form.strategies.map((name) => h("option", { value: name, selected: name === this.draft.strategy }, name))) : null;
    const options = select ? h("textarea", { "data-key": "edit-options", rows: 3, spellcheck: "false", "aria-label": "Options of the strategy as JSON", ...about("options"), value: this.draft.options || "{}", oninput: (event) => { this.draft.options = event.target.value; } }) : null;
    return h("div", { class: "sc-card sc-edit", role: "group", "aria-label": "Edit and fork" },
      h("p", {}, form.subject === "args" ? "Arguments of the call, as JSON. A fork keeps what happened before." : "State, as JSON. What is left unchanged stays."),
      area, select ? h("label", { class: "sc-row" }, "Strategy ", select) : null,
      options ? h("label", {}, "Its options, as JSON", options) : null,
      h("div", { class: "sc-row" },
        h("button", { type: "button", class: "sc-button sc-main", "data-key": "edit-send", onclick: () => this.submit() }, "Fork with this"),
        h("button", { type: "button", class: "sc-button", "data-key": "edit-cancel", onclick: () => this.close() }, "Cancel"),
        h("span", { class: "sc-muted" }, h("kbd", {}, "Ctrl"), "+", h("kbd", {}, "Enter"))));
  }

  paintPanels() {
    const { view } = this;
    const frame = view.frame;
    const over = Boolean(view.changes);
    const title = [frame.title, frame.replayed && "replayed", seconds(frame.seconds)].filter(Boolean).join(" · ");
    const name = (frame.nodes.map((node) => this.graph.nodes[node] || node).join(" + ")) || frame.kind;
    const parts = [
      h("p", { class: "sc-step" }, h("strong", {}, name), title ? h("span", { class: "sc-muted" }, ` ${title}`) : null),
      frame.error ? h("p", { class: "sc-errortext" }, frame.error) : null,
      view.result !== null && view.result !== undefined ? panel("result", "Result", h("p", {}, h("code", {}, view.result))) : null,
      report(view.report), changesOfRun(view.changes), changes(frame, over), why(frame), cost(frame),
      frame.inside.length ? panel("inside", "Inside", h("p", {}, frame.inside.join(" → "))) : null,
      state(frame.state, over, this.find.value),
    ];
    this.panels.replaceChildren(...parts.filter(Boolean));
  }

  paintTime(moved) {
    const { view } = this;
    const longest = Math.max(0.001, ...view.items.map((item) => item.seconds || 0));
    const groups = [];
    for (const item of view.items.filter((each) => matches(this.find.value, told(each)))) {
      const last = groups[groups.length - 1];
      if (!last || last.attempt !== item.attempt) groups.push({ attempt: item.attempt, items: [item] });
      else last.items.push(item);
    }
    const left = (count, where) => count ? h("span", { class: "sc-muted sc-more" }, `${count.toLocaleString("en")} ${where}`) : null;
    const scroll = this.time.scrollLeft;
    this.time.replaceChildren(...[left(view.more[0], "earlier"), ...groups.map((group) => h("div", { class: "sc-attempt" },
      group.attempt ? h("span", { class: "sc-group-name" }, `attempt ${group.attempt}`) : null,
      h("ol", {}, group.items.map((item) => this.item(item, longest))))), left(view.more[1], "later")].filter(Boolean));
    const here = this.time.querySelector("[aria-current]");
    if (moved && here) this.time.scrollLeft = here.offsetLeft - this.time.clientWidth / 2;
    else this.time.scrollLeft = scroll;
  }

  item(item, longest) {
    const height = 4 + Math.round(22 * Math.sqrt((item.seconds || 0) / longest));
    const bar = h("span", { class: "sc-bar-of", "aria-hidden": "true" });
    bar.style.height = `${height}px`;
    const words = told(item);
    return h("li", {}, h("button", {
      type: "button", class: ["sc-item", `sc-${item.tone}`, item.left && "sc-left", item.replayed && "sc-replayed"].filter(Boolean).join(" "),
      "data-key": `item-${item.id}`, "aria-label": words, title: words, "aria-current": item.here ? "step" : null,
      onclick: () => this.send({ do: "goto", id: item.id }),
    }, bar, h("span", { class: "sc-item-name" }, item.label)));
  }

  search() {
    this.paintPanels();
    this.paintTime(false);
    this.count();
  }

  count() {
    const query = this.find.value.trim();
    const { items, more, frame } = this.view;
    const among = (all, texts) => `${all.filter((each) => matches(query, ...texts(each))).length} of ${all.length}`;
    const steps = `${among(items, (each) => [told(each)])}${more[0] + more[1] ? " shown" : ""} steps`;
    const text = query ? `${steps}, ${among(frame.state || [], (row) => row)} keys` : "";
    if (this.found.textContent !== text) this.found.textContent = text;
  }

  toggle(name) {
    this.open = this.open === name ? "" : name;
    this.draft = null;
    if (this.view) this.paintAbove();
    const first = this.above.querySelector(name === "edit" ? "textarea" : name === "export" ? "[data-key=export-html]" : name === "confirm" ? "[data-key=no]" : "none");
    if (first) first.focus();
  }

  close() {
    this.open = "";
    this.draft = null;
    this.setAlert("");
    if (this.view) this.paintAbove();
    this.root.focus({ preventScroll: true });
  }

  submit() {
    this.send({ do: "edit", text: this.draft.text, strategy: this.draft.strategy || null, options: this.draft.options ?? null });
  }

  act(name) {
    const action = this.view && this.view.actions[name];
    if (!action || !action.on) return;
    if (name === "edit") this.toggle("edit");
    else if (name === "answer") { const field = this.above.querySelector("[data-key=answer-field]"); if (field) field.focus(); }
    else this.send({ do: name });
  }

  key(event) {
    const typing = ["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName);
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    // The notebook's own one-letter commands must not see these; its Ctrl+S must.
    if (this.isOurs(event)) event.stopPropagation();
    if (event.key === "Escape" && event.target === this.find) {
      event.preventDefault(); this.find.value = ""; this.search(); this.root.focus({ preventScroll: true }); return;
    }
    if (event.key === "Escape" && this.open) { event.preventDefault(); this.close(); return; }
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && this.open === "edit") {
      event.preventDefault(); this.submit(); return;
    }
    if (typing || !plain) return;
    const name = { n: "step", ArrowRight: "step", r: "run", p: "pause", b: "back", ArrowLeft: "back", e: "edit", a: "answer", R: "restart" }[event.key];
    if (name) { event.preventDefault(); this.act(name); }
    else if (event.key === "x" && !this.options.replay) { event.preventDefault(); this.toggle("export"); }
    else if (event.key === "/") { event.preventDefault(); this.find.focus(); }
    else if (event.key === "?") { event.preventDefault(); this.toggle("help"); }
    else if (event.key === "." && !this.options.replay) {
      event.preventDefault();
      for (const node of this.view.marks.next) if (!node.startsWith("__")) this.send({ do: "break", node });
    }
  }
}

// -- in a notebook ---------------------------------------------------------------------------

function save(name, mime, text) {
  const url = URL.createObjectURL(new Blob([text], { type: mime }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function hideCopies(name) {
  for (const copy of document.querySelectorAll(`.sc-copy-${name}`)) copy.style.display = "none";
}

export function render({ model, el }) {
  const root = h("div", {});
  el.replaceChildren(root);
  if (model.get("page")?.runs) {
    replay(root, model.get("page"));
    for (const delay of [300, 2000]) setTimeout(() => hideCopies(model.get("name")), delay);
    return undefined;
  }
  let waiting = null;
  const send = (command) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => painter.setStatus("detached", "bad", "detached · no answer from the kernel: run the cell again"), PATIENCE);
    model.send(command);
  };
  const painter = new Painter(root, model.get("graph"), send);
  const hideCopy = () => hideCopies(model.get("name"));
  const paint = () => { clearTimeout(waiting); painter.paint(model.get("view")); hideCopy(); };
  const take = (message) => { clearTimeout(waiting); if (message.save) save(message.save, message.mime, message.text); };
  model.on("change:view", paint);
  model.on("msg:custom", take);
  paint();
  const later = [setTimeout(hideCopy, 300), setTimeout(hideCopy, 2000)];
  return () => {
    painter.dispose();
    later.forEach(clearTimeout);
    clearTimeout(waiting);
    model.off("change:view", paint);
    model.off("msg:custom", take);
  };
}

export default { render };
