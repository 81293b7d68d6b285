"use strict";
// Draws the data of the page: see data.rs for its form. Texts come into the page as text only, never as HTML.
(() => {
  const D = JSON.parse(document.getElementById("data").textContent);
  const T = D.texts, CHUNK = 150, OPEN_AT_ONCE = 300;
  const [ADDRESS, MODULE, KIND, EFFECT, PLACE, BLOCK, REASONS, REMARKS, ROWS] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const $ = (id) => document.getElementById(id);
  const make = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
    return node;
  };
  const noun = (count) => `${count} ${D.plan ? "change" : "object"}${count === 1 ? "" : "s"}`;

  // The list.
  const list = $("list");
  let shown = [];
  let drawn = 0;

  const why = (entry) => {
    const parts = [];
    for (let i = 0; i < entry[REASONS].length; i += 2) {
      const place = entry[REASONS][i + 1];
      parts.push(T[entry[REASONS][i]] + (place < 0 ? "" : `, ${T[place]}`));
    }
    return parts.length ? `because ${parts.join("; ")}` : "";
  };

  const item = (index) => {
    const entry = D.entries[index];
    const [word, sign, style] = D.effects[entry[EFFECT]];
    const summary = make("summary", {});
    if (D.plan) summary.append(make("span", { class: `tag ${style}` }, `${sign} ${word}`), " ");
    summary.append(make("code", {}, T[entry[ADDRESS]]));
    const reason = why(entry);
    if (reason) summary.append(make("span", { class: "why" }, ` ${reason}`));
    const names = found ? [...rowsWith(entry)] : [];
    if (names.length) summary.append(make("span", { class: "why" }, ` (found in ${names.slice(0, 4).join(", ")}${names.length > 4 ? ` and ${names.length - 4} more` : ""})`));
    const details = make("details", { class: style, id: `e${index}` }, summary);
    details.addEventListener("toggle", () => fill(details, entry));
    return make("li", {}, details);
  };

  const fill = (details, entry) => {
    if (!details.open || details.dataset.filled) return;
    details.dataset.filled = "1";
    const body = make("div", { class: "body" });
    const facts = make("ul");
    if (entry[PLACE] >= 0) facts.append(make("li", {}, "block at ", make("code", {}, T[entry[PLACE]])));
    for (const remark of entry[REMARKS]) facts.append(make("li", {}, T[remark]));
    if (entry[BLOCK] >= 0) {
      for (const [title, others] of [["depends on", needs(entry[BLOCK])], ["needed by", neededBy(entry[BLOCK])]]) {
        if (!others.length) continue;
        const line = make("li", { class: "links" }, `${title} `);
        for (const other of others.slice(0, 30)) line.append(make("button", { type: "button", "data-block": other }, T[D.blocks[other]]), " ");
        if (others.length > 30) line.append(`and ${others.length - 30} more`);
        facts.append(line);
      }
    }
    if (facts.childNodes.length) body.append(facts);
    body.append(entry[ROWS] ? table(entry) : make("p", { class: "note" }, "The details are left out, because the page would get too large."));
    details.append(body);
    showHits(body);
  };

  const SIGNS = [["same", " ", "unchanged"], ["c", "+", "added"], ["d", "\u2212", "removed"], ["u", "~", "changed"]];

  // A value of which only a part differs from the other side, with that part marked.
  const differing = (text, other) => {
    const [one, two] = [[...text], [...other]], most = Math.min(one.length, two.length);
    let start = 0, end = 0;
    while (start < most && one[start] === two[start]) start += 1;
    while (end < most - start && one.at(-1 - end) === two.at(-1 - end)) end += 1;
    const middle = one.slice(start, one.length - end).join("");
    if (!middle || 3 * (start + end) < Math.max(one.length, two.length)) return [text];
    return [one.slice(0, start).join(""), make("b", { class: "part" }, middle), one.slice(one.length - end).join("")];
  };

  const table = (entry) => {
    const rows = entry[ROWS], two = D.plan;
    const filled = (at) => rows.some((text, i) => i % 5 === at && text >= 0);
    // What is created has no value before, what is destroyed none after.
    const sides = [[3, "before"], [4, "after"]].filter(([at], _, all) => filled(at) || !all.some(([other]) => filled(other)));
    if (!rows.length) return make("p", { class: "note" }, "There is nothing more to show.");
    const head = make("tr", {}, make("th", { scope: "col", class: "mark" }, make("span", { class: "vh" }, "Change")), make("th", { scope: "col", class: "name" }, "Attribute"));
    for (const title of two ? sides.map(([, side]) => side[0].toUpperCase() + side.slice(1)) : ["Value"]) head.append(make("th", { scope: "col" }, title));
    const body = make("tbody");
    for (let i = 0; i < rows.length; i += 5) {
      const [depth, kind, name, before, after] = [rows[i], rows[i + 1], T[rows[i + 2]], rows[i + 3], rows[i + 4]];
      const shape = (kind >> 2) & 3, forces = kind & 16;
      const [style, sign, word] = SIGNS[kind & 3];
      const indent = `padding-left: ${0.5 + depth * 1.2}rem`;
      const mark = make("td", { class: "mark" }, make("span", { "aria-hidden": "true" }, two ? sign : ""), two && make("span", { class: "vh" }, shape === 3 ? "" : word));
      if (shape === 3) {
        const cell = make("td", { class: "note", colspan: two ? 1 + sides.length : 2, style: indent }, name);
        body.append(make("tr", {}, make("td", { class: "mark" }), cell));
        continue;
      }
      const label = make("th", { scope: "row", class: "name", style: indent }, shape === 2 ? "" : name || "\u2022");
      if (forces) label.append(" ", make("span", { class: "forces" }, "# forces replacement"));
      // Search marks whole texts.
      const compares = style === "u" && before >= 0 && after >= 0 && !found;
      const side = (text, where, other) => {
        const cell = make("td", { class: where, "data-side": two ? where : null });
        if (text >= 0) cell.append(...(compares ? differing(T[text], T[other]) : [T[text]]));
        return cell;
      };
      const cells = two ? sides.map(([at, where]) => (at === 3 ? side(before, where, after) : side(after, where, before))) : [side(after >= 0 ? after : before, "value")];
      body.append(make("tr", { class: `${style}${shape === 2 ? " line" : ""}` }, mark, label, ...cells));
    }
    return make("table", { class: "diff" }, make("caption", { class: "vh" }, `Attributes of ${T[entry[ADDRESS]]}`), make("thead", {}, head), body);
  };

  const more = (count) => {
    const part = document.createDocumentFragment();
    const end = Math.min(shown.length, drawn + count);
    for (; drawn < end; drawn += 1) part.append(item(shown[drawn]));
    const first = list.children.length;
    list.append(part);
    for (const child of [...list.children].slice(first)) showHits(child);
    $("more").hidden = drawn >= shown.length;
    $("more").textContent = `Show more (${shown.length - drawn} left)`;
  };

  // Search and filters. A text is looked for once; entries only compare numbers.
  const lower = [];
  const matching = (text) => {
    const found = new Uint8Array(T.length);
    for (let i = 0; i < T.length; i += 1) {
      lower[i] ??= T[i].toLowerCase();
      if (lower[i].includes(text)) found[i] = 1;
    }
    return found;
  };
  let query = "", found = null;
  const has = (entry) => {
    const [a, m, k] = [entry[ADDRESS], entry[MODULE], entry[KIND]];
    if (found[a] || found[m] || found[k] || (entry[PLACE] >= 0 && found[entry[PLACE]])) return true;
    if (entry[REASONS].some((text) => text >= 0 && found[text]) || entry[REMARKS].some((text) => found[text])) return true;
    return rowsWith(entry).size > 0;
  };
  // The attributes that have the text. Lines and elements without a name belong to the one above them.
  const rowsWith = (entry) => {
    const names = new Set(), rows = entry[ROWS] || [];
    let name = "";
    for (let i = 0; i < rows.length; i += 5) {
      const [kind, own, before, after] = rows.slice(i + 1, i + 5);
      if (((kind >> 2) & 3) === 3) continue;
      name = T[own] || name;
      if (found[own] || (before >= 0 && found[before]) || (after >= 0 && found[after])) names.add(name);
    }
    return names;
  };

  // Where the text is, in browsers that can mark it without changing the page.
  const hits = window.Highlight && CSS.highlights ? new Highlight() : null;
  if (hits) CSS.highlights.set("hit", hits);
  const showHits = (part) => {
    if (!hits || !query) return;
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode, text = node.data.toLowerCase();
      // Some letters get longer.
      if (text.length !== node.length) continue;
      for (let at = text.indexOf(query); at >= 0; at = text.indexOf(query, at + query.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + query.length);
        hits.add(range);
      }
    }
  };

  let onlyBlock = -1;
  const apply = () => {
    query = $("search").value.trim().toLowerCase();
    const module = $("module").value;
    const effects = new Set([...document.querySelectorAll("#effects input:checked")].map((box) => Number(box.value)));
    found = query ? matching(query) : null;
    hits?.clear();
    shown = [];
    D.entries.forEach((entry, index) => {
      if (D.plan && !effects.has(entry[EFFECT])) return;
      if (module !== "" && entry[MODULE] !== Number(module)) return;
      if (onlyBlock >= 0 && entry[BLOCK] !== onlyBlock) return;
      if (found && !has(entry)) return;
      shown.push(index);
    });
    drawn = 0;
    list.replaceChildren();
    more(CHUNK);
    const block = onlyBlock >= 0 ? ` of the block ${T[D.blocks[onlyBlock]]}` : "";
    const all = shown.length === D.entries.length;
    $("status").textContent = all ? `${noun(shown.length)}${D.plan ? ", the most dangerous first" : ""}.` : `${shown.length} of ${noun(D.entries.length)} shown${block}.`;
  };

  const filters = () => {
    const counts = new Map(), modules = new Map();
    for (const entry of D.entries) {
      counts.set(entry[EFFECT], (counts.get(entry[EFFECT]) || 0) + 1);
      modules.set(entry[MODULE], (modules.get(entry[MODULE]) || 0) + 1);
    }
    for (const [effect, count] of [...counts].sort((a, b) => a[0] - b[0])) {
      const [word, sign, style] = D.effects[effect];
      $("effects").append(make("label", { class: style }, make("input", { type: "checkbox", value: effect, checked: true }), `${sign} ${word} (${count})`));
    }
    $("effects").hidden = !D.plan;
    const names = [...modules].sort((a, b) => (T[a[0]] < T[b[0]] ? -1 : 1));
    for (const [module, count] of names) $("module").append(make("option", { value: module }, `${T[module] || "(root)"} (${count})`));
    const form = $("filters");
    form.hidden = $("tools").hidden = false;
    let wait = 0;
    form.addEventListener("input", () => {
      clearTimeout(wait);
      wait = setTimeout(apply, D.entries.length > 2000 ? 150 : 0);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => {
      onlyBlock = -1;
      setTimeout(apply, 0);
    });
    $("expand").addEventListener("click", () => {
      // Filled here, because the browser draws the page after each of their events.
      for (const details of [...list.querySelectorAll("details")].slice(0, OPEN_AT_ONCE)) {
        details.open = true;
        fill(details, D.entries[Number(details.id.slice(1))]);
      }
    });
    $("collapse").addEventListener("click", () => list.querySelectorAll("details[open]").forEach((details) => (details.open = false)));
    $("more").addEventListener("click", () => more(CHUNK));
    if ("IntersectionObserver" in window) {
      new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && drawn < shown.length && more(CHUNK), { rootMargin: "600px" }).observe($("more"));
    }
    addEventListener("beforeprint", () => more(shown.length));
    list.addEventListener("click", (event) => {
      const button = event.target.closest("button[data-block]");
      if (button) showBlock(Number(button.dataset.block));
    });
    // The arrow keys go from one to the next.
    list.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || event.target.tagName !== "SUMMARY") return;
      const all = [...list.querySelectorAll("summary")];
      const next = all[all.indexOf(event.target) + step];
      if (next) {
        event.preventDefault();
        next.focus();
      }
    });
  };

  const showBlock = (block) => {
    $("filters").reset();
    onlyBlock = block;
    setTimeout(() => {
      onlyBlock = block;
      apply();
      const first = list.querySelector("details");
      if (first && shown.length <= 5) first.open = true;
      $("changes").focus();
      $("changes").scrollIntoView();
    }, 0);
  };

  // The graph.
  let outgoing = null, incoming = null;
  const adjacency = () => {
    if (outgoing) return;
    [outgoing, incoming] = [new Map(), new Map()];
    const add = (map, from, to) => (map.has(from) ? map.get(from).push(to) : map.set(from, [to]));
    for (let i = 0; i < D.edges.length; i += 2) {
      add(outgoing, D.edges[i], D.edges[i + 1]);
      add(incoming, D.edges[i + 1], D.edges[i]);
    }
  };
  const needs = (block) => (adjacency(), outgoing.get(block) || []);
  const neededBy = (block) => (adjacency(), incoming.get(block) || []);

  const svgNode = (name, attributes = {}, ...children) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };

  let view = -1, svg = null, box = null;

  const setBox = (next) => {
    box = next;
    svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.w} ${box.h}`);
  };
  const fit = () => {
    const [, , , , width, height] = D.views[view];
    setBox({ x: 0, y: 0, w: Math.max(width, 320), h: Math.max(height, 200) });
  };
  // A large picture starts readable, around its first node, which is the most dangerous.
  const begin = (node) => {
    fit();
    const { clientWidth, clientHeight } = $("canvas");
    if (!node || Math.min(clientWidth / box.w, clientHeight / box.h) >= 0.65) return;
    const [w, h] = [clientWidth / 0.9, clientHeight / 0.9];
    const start = (middle, length, all) => Math.max(Math.min(middle - length / 2, all + 20 - length), -20);
    setBox({ x: start(node[0] + node[2] / 2, w, box.w), y: start(node[1] + node[3] / 2, h, box.h), w, h });
  };
  const zoom = (factor, cx = 0.5, cy = 0.5) => {
    const w = Math.min(Math.max(box.w * factor, 120), 60000), h = (w / box.w) * box.h;
    setBox({ x: box.x + (box.w - w) * cx, y: box.y + (box.h - h) * cy, w, h });
  };
  const pan = (dx, dy) => setBox({ ...box, x: box.x + dx * box.w, y: box.y + dy * box.h });

  const label = (node, edges) => {
    const [, , , , first, second, signs, effect, target] = node;
    const own = D.views[view][6].indexOf(node);
    const names = (of, at) => edges.filter((edge) => edge[of] === own).map((edge) => D.views[view][6][edge[at]]).map((other) => `${T[other[4]]} ${T[other[5]]}`);
    const [needed, needing] = [names(0, 1), names(1, 0)];
    const say = (title, all) => (all.length ? ` ${title} ${all.slice(0, 10).join(", ")}${all.length > 10 ? ` and ${all.length - 10} more` : ""}.` : "");
    const what = target >= 0 ? " Opens." : "";
    return `${T[first]} ${T[second]}, ${D.plan ? D.effects[effect][0] : "object"}${T[signs] ? ` (${T[signs]})` : ""}.${what}${say("Depends on", needed)}${say("Needed by", needing)}`;
  };

  const drawView = (index, focus) => {
    view = index;
    const [title, , hidden, lines, , , nodes, edges, frames] = D.views[index];
    const tip = svgNode("marker", { id: "tip", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" }, svgNode("path", { class: "tip", d: "M0 0L8 4L0 8z" }));
    svg = svgNode("svg", { role: "group", "aria-label": `Graph of ${T[title]}` }, svgNode("defs", {}, tip));
    for (const [name, x, y, w, h, target] of frames) {
      const text = svgNode("text", { x: x + 8, y: y + 17, class: "sub" }, T[name]);
      if (target >= 0) text.dataset.target = target;
      svg.append(svgNode("rect", { class: "frame", x, y, width: w, height: h, rx: 6 }), text);
    }
    for (const [from, to, ...points] of edges) {
      let d = "";
      for (let i = 0; i < points.length; i += 2) d += `${i ? "L" : "M"}${points[i]} ${points[i + 1]}`;
      if (d) svg.append(svgNode("path", { class: "edge", d, "marker-end": "url(#tip)", "data-ends": `${from} ${to}` }));
    }
    nodes.forEach((node, at) => {
      const [x, y, w, h, first, second, signs, effect, target, block] = node;
      const style = D.effects[effect][2];
      const group = svgNode("g", { class: `node ${style}${target >= 0 ? " group" : ""}`, tabindex: 0, role: "button", "aria-label": label(node, edges), "data-at": at });
      group.append(svgNode("rect", { x, y, width: w, height: h, rx: target >= 0 ? 10 : 3 }));
      [first, second, signs].forEach((text, line) => group.append(svgNode("text", { x: x + 10, y: y + 16 + line * 16, class: line ? "sub" : "", "aria-hidden": "true" }, T[text])));
      if (block >= 0) group.append(svgNode("title", {}, T[D.blocks[block]]));
      group.dataset.target = target;
      group.dataset.block = block;
      svg.append(group);
    });
    $("canvas").replaceChildren(svg);
    begin(nodes[0]);
    crumbs();
    $("views").value = index;
    $("graph-status").textContent = `${T[title]}: ${nodes.length} nodes, ${edges.length} dependencies.${hidden ? ` ${hidden} more nodes are not drawn.` : ""}${lines ? ` ${lines} more dependencies are not drawn.` : ""}`;
    if (focus) (svg.querySelector(".node") || $("canvas")).focus({ preventScroll: true });
  };

  const crumbs = () => {
    const path = [];
    for (let at = view; at >= 0; at = D.views[at][1]) path.unshift(at);
    $("crumbs").replaceChildren(...path.map((at) => make("button", { type: "button", "data-view": at, "aria-current": at === view ? "page" : null }, T[D.views[at][0]])));
  };

  const openNode = (group) => {
    const [target, block] = [Number(group.dataset.target), Number(group.dataset.block ?? -1)];
    if (target >= 0) drawView(target, true);
    else if (block >= 0) showBlock(block);
  };

  const highlight = (group) => {
    for (const edge of svg.querySelectorAll(".edge")) {
      const hot = group && edge.dataset.ends.split(" ").includes(group.dataset.at);
      edge.classList.toggle("hot", Boolean(hot));
    }
  };

  const graph = () => {
    if (!D.views.length) return;
    $("graph-section").hidden = false;
    D.views.forEach(([title], at) => $("views").append(make("option", { value: at }, T[title])));
    $("graph").addEventListener("toggle", () => $("graph").open && view < 0 && drawView(0, false));
    $("views").addEventListener("change", () => drawView(Number($("views").value), false));
    $("crumbs").addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) drawView(Number(button.dataset.view), true);
    });
    $("zoom-in").addEventListener("click", () => zoom(0.7));
    $("zoom-out").addEventListener("click", () => zoom(1.4));
    $("zoom-fit").addEventListener("click", fit);
    const canvas = $("canvas");
    canvas.addEventListener("keydown", (event) => {
      const act = {
        ArrowLeft: () => pan(-0.1, 0), ArrowRight: () => pan(0.1, 0), ArrowUp: () => pan(0, -0.1), ArrowDown: () => pan(0, 0.1),
        "+": () => zoom(0.7), "-": () => zoom(1.4), 0: fit,
      }[event.key];
      const group = event.target.closest(".node");
      if (act && !event.ctrlKey && !event.metaKey && !event.altKey) act();
      else if (group && (event.key === "Enter" || event.key === " ")) openNode(group);
      else return;
      event.preventDefault();
    });
    canvas.addEventListener("focusin", (event) => {
      const group = event.target.closest(".node");
      highlight(group);
      if (!group) return;
      const [x, y, w, h] = D.views[view][6][Number(group.dataset.at)];
      if (x < box.x || y < box.y || x + w > box.x + box.w || y + h > box.y + box.h) setBox({ ...box, x: x + w / 2 - box.w / 2, y: y + h / 2 - box.h / 2 });
    });
    canvas.addEventListener("wheel", (event) => {
      // Without a key the page scrolls.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const area = canvas.getBoundingClientRect();
      zoom(event.deltaY < 0 ? 0.85 : 1.18, (event.clientX - area.left) / area.width, (event.clientY - area.top) / area.height);
    }, { passive: false });
    drag(canvas);
  };

  // One finger or the mouse moves, two fingers zoom; a press that does not move opens.
  const drag = (canvas) => {
    const fingers = new Map();
    let moved = 0, spread = 0, pressed = null;
    canvas.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, event);
      [moved, spread, pressed] = [0, 0, event.target.closest("[data-target]")];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const last = fingers.get(event.pointerId);
      if (!last) return;
      const area = canvas.getBoundingClientRect();
      const scale = Math.max(box.w / area.width, box.h / area.height);
      const [dx, dy] = [event.clientX - last.clientX, event.clientY - last.clientY];
      fingers.set(event.pointerId, event);
      moved += Math.abs(dx) + Math.abs(dy);
      if (fingers.size === 1) return setBox({ ...box, x: box.x - dx * scale, y: box.y - dy * scale });
      const [a, b] = [...fingers.values()];
      const now = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
      if (spread) zoom(spread / now);
      spread = now;
    });
    const end = (event) => {
      fingers.delete(event.pointerId);
      if (event.type === "pointerup" && pressed && moved < 6) openNode(pressed);
      pressed = null;
    };
    canvas.addEventListener("pointerup", end);
    // Screen readers click without a pointer.
    canvas.addEventListener("click", (event) => {
      const group = event.target.closest("[data-target]");
      if (group && event.detail === 0) openNode(group);
    });
    canvas.addEventListener("pointercancel", end);
  };

  filters();
  apply();
  graph();
})();
