// Shows the cell that Python drew, and sends back what a person does. It decides nothing, and every
// text in `html` was escaped where it was drawn.

const KEYS = {
  n: "step", ArrowRight: "step", r: "run", p: "pause", b: "back", ArrowLeft: "back", R: "restart",
  ".": "break", e: "edit", a: "answer", x: "export", "?": "help",
};
const FORMS = ["edit", "answer", "export", "help", "state"];

function nameOf(element) {
  const { act, node, id, form } = element.dataset;
  return [element.tagName, act, node, id, form, element.name].join(" ");
}

function inputs(root) {
  return [...root.querySelectorAll("input, textarea, select")];
}

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "selfcorrect";
  root.tabIndex = 0;
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Stepper");
  const status = document.createElement("p");
  status.className = "status";
  status.setAttribute("role", "status");
  const problem = document.createElement("p");
  problem.className = "problem";
  problem.setAttribute("role", "alert");
  const cell = document.createElement("div");
  root.append(status, problem, cell);
  el.append(root);
  // The copy below is for whoever opens the notebook without a kernel.
  const hidden = document.createElement("style");
  hidden.textContent = `.${model.get("copy")} { display: none }`;
  el.append(hidden);
  let head = "";

  const say = (where, text) => { if (where.textContent !== text) where.textContent = text; };
  const form = (name) => cell.querySelector(`details[data-form="${name}"]`);

  function paint() {
    const view = model.get("view");
    const focused = root.contains(document.activeElement) ? nameOf(document.activeElement) : "";
    const isSame = view.head === head;
    const drafts = isSame ? new Map(inputs(cell).map((each) => [nameOf(each), each.value])) : new Map();
    const open = isSame ? FORMS.filter((name) => form(name)?.open) : [];
    head = view.head;
    cell.innerHTML = view.html;
    for (const node of cell.querySelectorAll("[data-node]")) {
      node.setAttribute("tabindex", "0");
      node.setAttribute("role", "button");
      node.dataset.act = "break";
      node.setAttribute("aria-label", node.querySelector("title").textContent);
    }
    for (const name of open) if (form(name)) form(name).open = true;
    for (const each of inputs(cell)) if (drafts.has(nameOf(each))) each.value = drafts.get(nameOf(each));
    root.dataset.status = view.status;
    say(status, view.sentence);
    say(problem, view.problem);
    problem.hidden = !view.problem;
    if (focused && !root.contains(document.activeElement)) {
      const again = [...cell.querySelectorAll("*")].find((each) => nameOf(each) === focused && !each.disabled);
      (again || root).focus({ preventScroll: true });
    }
  }

  function send(command) {
    if (model.comm_live === false) {
      root.dataset.status = "detached";
      say(status, "The kernel is gone. Run the cell again.");
      return;
    }
    model.send(command);
  }

  function act(name, element) {
    if (FORMS.includes(name)) {
      const found = form(name);
      if (!found) return;
      found.open = !found.open || name === "edit" || name === "answer";
      (found.open ? found.querySelector("input, textarea, select, button") || root : root).focus();
      return;
    }
    const button = cell.querySelector(`button[data-act="${name}"]`);
    // What is pressed while a node runs waits for its end.
    if (!element && button?.disabled && model.get("view").status !== "running") return;
    send({ act: name, ...(element ? { id: element.dataset.id, node: element.dataset.node, value: element.dataset.value } : {}) });
  }

  function submit(found) {
    const values = Object.fromEntries(inputs(found).map((each) => [each.name, each.value]));
    send({ act: found.dataset.form, values });
  }

  root.addEventListener("click", (event) => {
    const element = event.target.closest("[data-act]");
    if (element && root.contains(element)) act(element.dataset.act, element);
  });
  root.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(event.target.closest("[data-form]"));
  });
  root.addEventListener("keydown", (event) => {
    const field = event.target.closest("input, textarea, select");
    const isPlain = !(event.ctrlKey || event.metaKey || event.altKey);
    // The page's own keys add cells, or delete them; those with Ctrl are left to it.
    if (isPlain) event.stopPropagation();
    const opened = event.target.closest("details[data-form]");
    if (event.key === "Escape" && opened) {
      opened.open = false;
      root.focus();
    } else if (event.key === "Enter" && event.ctrlKey && field) {
      event.preventDefault();
      event.stopPropagation();
      submit(field.closest("[data-form]"));
    } else if (isPlain && !field && ["Enter", " "].includes(event.key) && event.target.dataset.node) {
      event.preventDefault();
      act("break", event.target);
    } else if (isPlain && !field && KEYS[event.key]) {
      event.preventDefault();
      act(KEYS[event.key]);
    }
  });
  // Notebook 7 takes its keys before they get here; it leaves alone what asks for that.
  const guard = (event) => {
    const isOurs = root.contains(event.target) && !(event.metaKey || event.altKey)
      && (!event.ctrlKey || event.key === "Enter");
    root.toggleAttribute("data-lm-suppress-shortcuts", isOurs);
  };
  window.addEventListener("keydown", guard, true);

  function save({ name, mime, text }) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: mime }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  model.on("change:view", paint);
  model.on("msg:custom", (message) => { if (message.text !== undefined) save(message); });
  paint();
  return () => window.removeEventListener("keydown", guard, true);
}

export default { render };
