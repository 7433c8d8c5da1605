// The live cell: paints what Python tells, and sends back what a person does. It decides nothing.

const BUTTONS = [
  ["step", "Step", "n", "Run the next node"],
  ["run", "Run", "r", "Run to a breakpoint, a question, an error, or the end"],
  ["pause", "Pause", "p", "Stop before the next node"],
  ["back", "Back", "b", "Look at the state before; what tools have done stays done"],
  ["restart", "Restart", "R", "Look at the beginning; what tools have done stays done"],
];
const HELP = [
  ...BUTTONS.map(([, , key, hint]) => [key, hint]),
  ["→ ←", "Step and back"],
  [".", "Stop before the node that is next; Enter on a node does it there"],
  ["e", "Edit the state: a new branch; Ctrl+Enter sends it"],
  ["a", "Answer a question"],
  ["x", "Export"],
  ["Esc", "Close a form"],
];
const KEYS = { ArrowRight: "step", ArrowLeft: "back" };
for (const [name, , key] of BUTTONS) KEYS[key] = name;
const FORMS = { e: "edit", a: "answer", x: "export", "?": "help" };
const FIELDS = {
  edit: [["args", "Arguments"], ["strategy", "Strategy"], ["options", "Its options"], ["values", "Keys of the state"]],
  answer: [["answer", "Answer"]],
};

function render({ model, el }) {
  const root = make("div", null, el, { class: "selfcorrect", tabindex: 0, role: "group", "aria-label": "Stepper" });
  const title = make("h2", "", root);
  const status = make("p", "", root, { class: "status", role: "status" });
  const problem = make("p", "", root, { class: "problem", role: "alert" });
  const bar = make("div", null, root, { class: "keys", role: "toolbar", "aria-label": "Commands" });
  const buttons = {};
  for (const [name, label, key, hint] of BUTTONS) {
    const attributes = { title: `${hint} (${key})`, "aria-keyshortcuts": key === "R" ? "Shift+R" : key };
    buttons[name] = button(label, bar, () => send(name), attributes);
  }
  const question = make("p", "", null, { class: "question" });
  const choices = make("div", null, null, { class: "keys" });
  const forms = {};
  for (const name of Object.values(FORMS)) {
    const found = forms[name] = make("details", null, root, { "data-form": name });
    make("summary", name[0].toUpperCase() + name.slice(1), found);
    const form = make("form", null, found);
    if (name === "answer") form.append(question, choices);
    for (const [field, label] of FIELDS[name] ?? []) {
      make("textarea", null, make("label", label, form), { name: field, rows: field === "args" ? 6 : 1 });
    }
    if (FIELDS[name]) make("button", "Send", form);
    form.onsubmit = (event) => {
      event.preventDefault();
      submit(name);
    };
  }
  button("html", forms.export, () => send("export"));
  table("", HELP, forms.help);
  const body = make("div", null, root, { class: "body" });
  const picture = make("div", null, body, { class: "picture" });
  const step = make("div", null, body, { class: "step" });
  const steps = make("ol", null, root, { class: "steps", "aria-label": "Steps" });
  // The copy below is for whoever opens the notebook without a kernel.
  make("style", `.${model.get("copy")} { display: none }`, el);
  const drawn = new DOMParser().parseFromString(model.get("svg"), "image/svg+xml");
  picture.append(document.importNode(drawn.documentElement, true));
  const nodes = [...picture.querySelectorAll(".node")];
  for (const [name, value] of Object.entries({ tabindex: 0, role: "button" })) {
    nodes.forEach((node) => node.setAttribute(name, value));
  }
  nodes.forEach((node, i) => {
    node.dataset.node = model.get("view").picture.nodes[i].id;
    node.onclick = () => {
      send(model.get("view").picture.nodes[i].is_breakpoint ? "clear" : "break_at", node.dataset.node);
    };
  });
  let head = null;

  function show() {
    const view = model.get("view");
    const now = view.timeline.find((each) => each.is_head)?.id;
    if (now !== head) {
      for (const [name] of FIELDS.edit) field(name).value = "";
      field("args").value = view.args;
      field("answer").value = "";
    }
    head = now;
    const strategy = view.commands.includes("strategy");
    const fields = { args: view.args, strategy, options: strategy };
    for (const [name, isOpen] of Object.entries(fields)) field(name).parentElement.hidden = !isOpen;
    root.dataset.status = view.status;
    say(title, view.title);
    say(status, view.sentence);
    say(problem, view.problem);
    problem.hidden = !view.problem;
    for (const [name] of BUTTONS) buttons[name].disabled = !view.commands.includes(name);
    ask(view.question);
    paint(picture, view.picture);
    nodes.forEach((node) => node.setAttribute("aria-label", node.querySelector("title").textContent));
    tell(view, step);
    list(view.timeline);
  }

  function say(where, text) {
    if (where.textContent !== text) where.textContent = text;
  }

  function field(name) {
    return root.querySelector(`textarea[name="${name}"]`);
  }

  function ask(asked) {
    forms.answer.hidden = !asked;
    if (!asked || question.textContent === asked.question) return;
    forms.answer.open = true;
    question.textContent = asked.question;
    choices.replaceChildren();
    asked.options.forEach((text, choice) => button(text, choices, () => {
      answer(JSON.stringify({ action: "choose", choice }));
    }));
    for (const word of ["approve", "reject"]) button(word, choices, () => answer(word));
  }

  function list(timeline) {
    const focused = [...steps.children].findIndex((item) => item.contains(document.activeElement));
    steps.replaceChildren();
    for (const each of timeline) {
      const left = each.is_left ? ", on a branch that was left" : "";
      const what = [each.node || each.kind, each.outcome].filter(Boolean).join(" → ");
      const text = what + left;
      const item = button(text, make("li", null, steps), () => send("goto", each.id));
      item.className = each.kind + (each.is_left ? " left" : "");
      if (each.is_head) item.setAttribute("aria-current", "step");
    }
    if (focused >= 0) (steps.children[focused]?.firstChild ?? root).focus({ preventScroll: true });
  }

  function send(act, ...given) {
    if (model.comm_live === false) return say(status, "The kernel is gone. Run the cell again.");
    return model.send({ act, given });
  }

  function answer(text) {
    send("answer", model.get("view").question?.id ?? "", text);
  }

  function submit(name) {
    if (name === "answer") return answer(field(name).value);
    return send(name, Object.fromEntries(FIELDS[name].map(([each]) => [each, field(each).value])));
  }

  function open(name) {
    const found = forms[name];
    if (found.hidden) return;
    found.open = !found.open || name in FIELDS;
    const first = [...found.querySelectorAll("textarea, button")].find((each) => each.checkVisibility());
    (found.open && first ? first : root).focus();
  }

  root.addEventListener("keydown", (event) => {
    const isPlain = !(event.ctrlKey || event.metaKey || event.altKey);
    const form = event.target.closest("details[data-form]");
    const isTyping = event.target.tagName === "TEXTAREA";
    // The notebook's own keys add cells and delete them; those with Ctrl are left to it.
    if (isPlain) event.stopPropagation();
    if (event.key === "Escape" && form) {
      form.open = false;
      root.focus();
    } else if (event.key === "Enter" && event.ctrlKey && isTyping) {
      event.preventDefault();
      event.stopPropagation();
      submit(form.dataset.form);
    } else if (!isPlain || isTyping) {
      return;
    } else if ((event.key === "Enter" || event.key === " ") && event.target.dataset.node) {
      event.preventDefault();
      event.target.onclick();
    } else if (event.key === ".") {
      for (const node of picture.querySelectorAll(".next")) node.onclick();
    } else if (FORMS[event.key]) {
      event.preventDefault();
      open(FORMS[event.key]);
    } else if (KEYS[event.key]) {
      event.preventDefault();
      // What is pressed while a node runs waits for its end.
      const isClosed = buttons[KEYS[event.key]]?.disabled && root.dataset.status !== "running";
      if (!isClosed) send(KEYS[event.key]);
    }
  });
  // Notebook 7 takes its keys before they get here; it leaves alone what asks for that.
  const guard = (event) => {
    const isOurs = root.contains(event.target) && !(event.metaKey || event.altKey)
      && (!event.ctrlKey || event.key === "Enter");
    root.toggleAttribute("data-lm-suppress-shortcuts", isOurs);
  };
  window.addEventListener("keydown", guard, true);

  model.on("change:view", show);
  model.on("msg:custom", ({ name, mime, text }) => {
    const link = make("a", null, null, { download: name });
    link.href = URL.createObjectURL(new Blob([text], { type: mime }));
    link.click();
    URL.revokeObjectURL(link.href);
  });
  show();
  return () => window.removeEventListener("keydown", guard, true);
}

export default { render };
