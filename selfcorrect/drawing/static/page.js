// Steps through the views of each run of a page.

function play(article) {
  const views = JSON.parse(article.querySelector("script").textContent);
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
    tell(view, part("step"));
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
  const inside = document.activeElement.closest("details.run");
  (inside ?? document.querySelector("details.run[open]"))?.querySelector("article").go(by);
});
