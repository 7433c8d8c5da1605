// A run in a page of its own: stands behind widget.js in the same module, and needs no kernel.

const WINDOW = 240;

function replay(root, data) {
  let run = data.runs[0];
  let at = 0;
  const line = (number) => {
    const found = [];
    for (let next = number; next !== null && next !== undefined; next = run.frames[next].parent === null ? null : Number(run.frames[next].parent)) found.push(next);
    return found.reverse();
  };
  const view = () => {
    const frame = { ...run.frames[at] };
    frame.state = (frame.state || []).map((row) => (typeof row === "number" ? data.rows[row] : row));
    const branch = new Set(line(at));
    const told = new Set([...branch, ...line(run.head)]);
    const visits = {};
    const ways = {};
    for (const number of branch) {
      const one = run.frames[number];
      if (one.kind !== "start" && one.kind !== "step") continue;
      for (const node of one.nodes) visits[node] = (visits[node] || 0) + 1;
      const targets = one.next.length ? one.next : ["__end__"];
      data.graph.edges.forEach((edge, index) => {
        if (!one.nodes.includes(edge.source)) return;
        const count = targets.filter((target) => target === edge.target).length;
        if (count) ways[index] = (ways[index] || 0) + count;
      });
    }
    const total = run.frames.length;
    const start = Math.max(0, Math.min(at - WINDOW / 2, total - WINDOW));
    const end = Math.min(total, start + WINDOW);
    const items = [];
    for (let number = start; number < end; number += 1) {
      const one = run.frames[number];
      items.push({ ...one, label: one.label, left: !told.has(one.kind === "error" ? Number(one.parent) : number), here: number === at });
    }
    const over = !frame.next.length;
    const last = at === total - 1;
    const action = (label, hint, on) => ({ label, hint, on });
    const where = `step ${at} of ${total - 1}`;
    return {
      format: data.format, kind: "replay", title: run.title,
      status: last ? { state: run.state, tone: run.tone, text: run.text } : { state: "past", tone: "calm", text: where },
      alert: "", second: null, question: null, form: null,
      actions: {
        step: action("Next", "The next step", !last), back: action("Back", "The step before", at > 0),
        run: action("End", "The last step", !last), restart: action("Start", "The first step", at > 0),
      },
      marks: { visits, ways, current: frame.nodes, next: over ? (frame.kind === "step" ? ["__end__"] : []) : frame.next, breakpoints: [] },
      items, more: [start, total - end], frame,
      changes: last ? run.changes : null, report: last ? run.report : null, result: last ? run.result : null,
    };
  };
  const send = (command) => {
    if (command.do === "step") at = Math.min(at + 1, run.frames.length - 1);
    else if (command.do === "back") at = Math.max(at - 1, 0);
    else if (command.do === "goto") at = Number(command.id);
    else if (command.do === "run") at = run.frames.length - 1;
    else if (command.do === "restart") at = 0;
    painter.paint(view());
  };
  const links = data.runs.map((one, number) => h("button", { type: "button", class: "sc-link", "data-key": `run-${number}`, onclick: () => choose(number) }, one.title));
  const choose = (number) => {
    run = data.runs[number];
    at = 0;
    links.forEach((link, other) => (other === number ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
    painter.paint(view());
  };
  const contents = data.runs.length > 1 ? h("div", { class: "sc-contents", role: "group", "aria-label": "Runs" }, h("table", { class: "sc-runs" },
    h("thead", {}, h("tr", {}, ["run", "outcome", "changes", "time"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, data.runs.map((one, number) => h("tr", {}, h("th", { scope: "row" }, links[number]),
      h("td", { class: `sc-tone-${one.tone}` }, one.text), h("td", {}, one.changes.length), h("td", {}, seconds(one.seconds))))))) : null;
  const painter = new Painter(root, data.graph, send, { replay: true, contents });
  choose(0);
  return painter;
}
