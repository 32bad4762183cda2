"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const { nodes, edges, boxes } = data;
  const columns = data.column_edges;
  const drawing = byId("drawing");
  const shapes = nodes.map((_, at) => byId("n" + at));
  const lines = [...drawing.querySelectorAll(".edge:not(.column)")];
  const threads = [...drawing.querySelectorAll(".edge.column")];
  const up = nodes.map(() => []);
  const down = nodes.map(() => []);
  edges.forEach(({ source, target }) => { down[source].push(target); up[target].push(source); });
  const full = { width: drawing.viewBox.baseVal.width, height: drawing.viewBox.baseVal.height };
  const FAR = 0.3, NEAR = 1, MOST = 50;
  let chosen = -1;

  // ---- The view: the part of the drawing that is shown.

  const view = { x: 0, y: 0, scale: 1 };
  const area = () => drawing.getBoundingClientRect();

  function show() {
    const { width, height } = area();
    drawing.setAttribute("viewBox", [view.x, view.y, width / view.scale, height / view.scale].join(" "));
    drawing.classList.toggle("far", view.scale < FAR);
  }

  function fit() {
    const { width, height } = area();
    view.scale = Math.min(width / full.width, height / full.height, 1.25) || 1;
    center(full.width / 2, full.height / 2);
  }

  function center(x, y) {
    const { width, height } = area();
    view.x = x - width / view.scale / 2;
    view.y = y - height / view.scale / 2;
    show();
  }

  function zoom(factor, x = area().width / 2, y = area().height / 2) {
    const scale = Math.min(Math.max(view.scale * factor, 0.005), 4);
    view.x += x / view.scale - x / scale;
    view.y += y / view.scale - y / scale;
    view.scale = scale;
    show();
  }

  const middle = (at) => [boxes[at][0] + boxes[at][2] / 2, boxes[at][1] + boxes[at][3] / 2];

  function bringIntoView(at) {
    const { width, height } = area();
    const [x, y] = middle(at);
    const inside = Math.abs((x - view.x) * view.scale - width / 2) < width * 0.45 &&
      Math.abs((y - view.y) * view.scale - height / 2) < height * 0.45;
    if (view.scale < FAR) view.scale = NEAR;
    else if (inside) return;
    center(x, y);
  }

  // ---- Pointers: dragging moves, two fingers and the wheel zoom, a click chooses.

  const pointers = new Map();
  let moved = false;
  const apart = ([a, b]) => Math.hypot(a.x - b.x, a.y - b.y);

  drawing.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    if (!pointers.size) moved = false;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  window.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    if (!moved && Math.hypot(now.x - before.x, now.y - before.y) < 4) return;
    moved = true;
    const distance = pointers.size === 2 ? apart([...pointers.values()]) : 0;
    pointers.set(event.pointerId, now);
    if (distance) {
      const { left, top } = area();
      const [a, b] = [...pointers.values()];
      zoom(apart([a, b]) / distance, (a.x + b.x) / 2 - left, (a.y + b.y) / 2 - top);
    } else {
      view.x -= (now.x - before.x) / view.scale;
      view.y -= (now.y - before.y) / view.scale;
      show();
    }
  });
  for (const name of ["pointerup", "pointercancel"]) {
    window.addEventListener(name, (event) => pointers.delete(event.pointerId));
  }
  drawing.addEventListener("wheel", (event) => {
    event.preventDefault();
    const { left, top } = area();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - left, event.clientY - top);
  }, { passive: false });
  drawing.addEventListener("click", (event) => {
    if (moved) return;
    const node = event.target.closest(".node");
    choose(node ? shapes.indexOf(node) : -1);
  });

  // ---- Choosing a node: what lies upstream and downstream of it, and its details.

  function reach(start, neighbours) {
    const found = new Set([start]);
    for (const at of found) neighbours[at].forEach((other) => found.add(other));
    return found;
  }

  function choose(at, { focus = false, link = true } = {}) {
    chosen = at;
    const above = at < 0 ? new Set() : reach(at, up);
    const below = at < 0 ? new Set() : reach(at, down);
    drawing.classList.toggle("chosen", at >= 0);
    shapes.forEach((shape, i) => {
      shape.classList.toggle("this", i === at);
      shape.classList.toggle("up", i !== at && above.has(i));
      shape.classList.toggle("down", i !== at && below.has(i) && !above.has(i));
      shape.classList.toggle("on", above.has(i) || below.has(i));
      shape.setAttribute("aria-pressed", String(i === at));
    });
    lines.forEach((line, i) => {
      const { source, target } = edges[i];
      const before = above.has(source) && above.has(target);
      const behind = below.has(source) && below.has(target);
      line.classList.toggle("up", before);
      line.classList.toggle("down", behind && !before);
      line.classList.toggle("on", before || behind);
    });
    threads.forEach((thread, i) => {
      const { source, target } = columns[i];
      thread.classList.toggle("on", (above.has(source) && above.has(target)) || (below.has(source) && below.has(target)));
    });
    if (at >= 0) {
      bringIntoView(at);
      makeReachable(at);
      if (focus) shapes[at].focus({ preventScroll: true });
      byId("status").textContent =
        `${nodes[at].kind} ${nodes[at].name}, ${above.size - 1} upstream, ${below.size - 1} downstream`;
    } else {
      byId("status").textContent = "";
    }
    tell(at, above, below);
    if (link) history.replaceState(null, "", at < 0 ? "#" : permalink(at));
  }

  const permalink = (at) =>
    "#" + [nodes[at].kind, nodes[at].namespace, nodes[at].name].map(encodeURIComponent).join("/");

  function followLink() {
    const at = nodes.findIndex((_, i) => permalink(i) === location.hash);
    if (at >= 0 && at !== chosen) choose(at, { link: false });
    return at >= 0;
  }

  // ---- Details. Text of users goes into the page as text, never as markup.

  function element(name, content, attributes = {}) {
    const made = document.createElement(name);
    for (const part of [content].flat()) made.append(part);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    return made;
  }

  const link = (at) => element("a", nodes[at].name || "(no name)", { href: permalink(at), "data-at": at });
  const list = (title, found) =>
    found.length ? [element("h3", title), element("ul", found.map((at) => element("li", link(at))))] : [];

  const initial = [...byId("details").childNodes];

  function tell(at, above, below) {
    const details = byId("details");
    details.scrollTop = 0;
    if (at < 0) {
      details.replaceChildren(...initial);
      return;
    }
    const node = nodes[at];
    const facts = [["kind", node.type ? `${node.kind}, ${node.type}` : node.kind]];
    if (node.namespace) facts.push(["namespace", node.namespace]);
    const owners = (node.owners || []).map((one) => (one.type ? `${one.name} (${one.type})` : one.name));
    facts.push([owners.length === 1 ? "owner" : "owners", owners.join(", ") || "none declared"]);
    facts.push(["upstream", String(above.size - 1)], ["downstream", String(below.size - 1)]);
    const [before, behind] = node.kind === "dataset" ? ["Written by", "Read by"] : ["Reads", "Writes"];
    details.replaceChildren(
      element("h2", node.name || "(no name)"),
      ...(node.description ? [element("p", node.description, { class: "text" })] : []),
      element("dl", facts.flatMap(([name, value]) => [element("dt", name), element("dd", value)])),
      ...list(flows ? before : "From", up[at]),
      ...list(flows ? behind : "To", down[at]),
      ...columnTable(at),
      element("p", element("a", "Link to this " + node.kind, { href: permalink(at) })),
    );
  }

  // Only a graph of both kinds has jobs between its datasets.
  const flows = nodes.some((one) => one.kind === "job") && nodes.some((one) => one.kind === "dataset");

  function columnTable(at) {
    const made = columns.filter((edge) => edge.target === at);
    const known = (nodes[at].columns || []).map((column) => column.name);
    const more = [...new Set(made.map((edge) => edge.target_column || "(all columns)"))];
    const rows = [...(nodes[at].columns || []), ...more.filter((name) => !known.includes(name)).map((name) => ({ name }))];
    if (!rows.length) return [];
    const row = (column) => {
      const sources = made.filter((edge) => (edge.target_column || "(all columns)") === column.name);
      const from = sources.map((edge) => element("small", ["from ", link(edge.source), ": " + edge.source_column]));
      const text = column.description ? [element("small", column.description)] : [];
      return element("tr", [element("td", [column.name, ...text, ...from]), element("td", column.type || "")]);
    };
    const head = element("tr", ["Column", "Type"].map((title) => element("th", title, { scope: "col" })));
    return [element("h3", "Columns"), element("table", [element("thead", head), element("tbody", rows.map(row))])];
  }

  byId("details").addEventListener("click", (event) => {
    const at = event.target.closest("a")?.dataset.at;
    if (at === undefined) return;
    event.preventDefault();
    choose(Number(at));
    byId("details").focus();
  });

  // ---- Keys in the drawing: one node can be reached with Tab, the arrows lead from it to others.

  function makeReachable(at) {
    drawing.querySelector('.node[tabindex="0"]')?.setAttribute("tabindex", "-1");
    shapes[at]?.setAttribute("tabindex", "0");
  }

  shapes.forEach((shape) => {
    shape.setAttribute("role", "button");
    shape.setAttribute("tabindex", "-1");
    shape.setAttribute("aria-pressed", "false");
  });
  makeReachable(0);

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  function neighbour(at, [dx, dy]) {
    const [x, y] = middle(at);
    let best = -1, least = Infinity;
    const consider = (other, weight) => {
      const [ox, oy] = middle(other);
      const along = (ox - x) * dx + (oy - y) * dy;
      const aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
      if (other !== at && along > 1 && (along + 2 * aside) * weight < least) {
        least = (along + 2 * aside) * weight;
        best = other;
      }
    };
    for (const other of [...up[at], ...down[at]]) consider(other, 0.001);
    if (best < 0) nodes.forEach((_, other) => consider(other, 1));
    return best;
  }

  drawing.addEventListener("keydown", (event) => {
    const at = shapes.indexOf(event.target.closest(".node"));
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in ARROWS) {
      event.preventDefault();
      const next = neighbour(at, ARROWS[event.key]);
      if (next >= 0) choose(next, { focus: true });
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(at, { focus: true });
    }
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
    const keys = { "/": () => byId("search").focus(), "+": () => zoom(1.3), "-": () => zoom(1 / 1.3), 0: fit, Escape: () => choose(-1) };
    if (!(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  byId("in").addEventListener("click", () => zoom(1.3));
  byId("out").addEventListener("click", () => zoom(1 / 1.3));
  byId("fit").addEventListener("click", fit);

  // ---- Search: every word has to occur in the name, the namespace, an owner or a column.

  const search = byId("search"), results = byId("results");
  const texts = nodes.map((node) => [node.name, node.namespace, node.kind, ...(node.owners || []).map((one) => one.name),
    ...(node.columns || []).map((one) => one.name)].join("\n").toLowerCase());
  let active = -1;

  function find(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    const named = (at) => (words.every((word) => nodes[at].name.toLowerCase().includes(word)) ? 0 : 1);
    return nodes.map((_, at) => at).filter((at) => words.every((word) => texts[at].includes(word)))
      .sort((a, b) => named(a) - named(b) || nodes[a].name.length - nodes[b].name.length || a - b);
  }

  function list_results() {
    const found = find(search.value);
    results.replaceChildren(...found.slice(0, MOST).map((at, i) => element("li",
      [nodes[at].name || "(no name)", element("small", `${nodes[at].kind} ${nodes[at].namespace}`)],
      { role: "option", id: "r" + i, "data-at": at, "aria-selected": "false" })));
    results.hidden = !found.length;
    search.setAttribute("aria-expanded", String(found.length > 0));
    byId("status").textContent = search.value ? `${found.length} found` : "";
    activate(found.length ? 0 : -1);
  }

  function activate(at) {
    active = at;
    [...results.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === at)));
    results.children[at]?.scrollIntoView({ block: "nearest" });
    if (at < 0) search.removeAttribute("aria-activedescendant");
    else search.setAttribute("aria-activedescendant", "r" + at);
  }

  function close() {
    results.hidden = true;
    search.setAttribute("aria-expanded", "false");
    activate(-1);
  }

  search.addEventListener("input", list_results);
  search.addEventListener("focus", () => search.value && list_results());
  search.addEventListener("blur", close);
  search.addEventListener("keydown", (event) => {
    const last = results.children.length - 1;
    if (event.key === "ArrowDown" && !results.hidden) activate(active < last ? active + 1 : 0);
    else if (event.key === "ArrowUp" && !results.hidden) activate(active > 0 ? active - 1 : last);
    else if (event.key === "Enter" && results.children[active]) take(results.children[active]);
    else if (event.key === "Escape") { if (results.hidden) search.value = ""; close(); }
    else return;
    event.preventDefault();
  });
  results.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    const item = event.target.closest("li");
    if (item) take(item);
  });

  function take(item) {
    close();
    choose(Number(item.dataset.at), { focus: true });
  }

  // ---- Start, other windows, paper.

  let before = null;
  window.addEventListener("beforeprint", () => {
    before = drawing.getAttribute("viewBox");
    drawing.setAttribute("viewBox", `0 0 ${full.width} ${full.height}`);
    drawing.classList.remove("far");
  });
  window.addEventListener("afterprint", show);
  window.addEventListener("resize", show);
  window.addEventListener("hashchange", followLink);
  fit();
  if (!followLink() && data.focus !== undefined) choose(data.focus, { link: false });
})();
