// Draws each <figure class="graph" data-structure="URL" data-states="URL" data-table="#nodes"> and
// fetches its states again on the event `qwf:refresh`. Steps that the reader opened are added to
// both URLs as ?open=STEP. data-states is absent for what does not run; data-table is where boxes
// of several nodes lead. Keep the figure where no other script replaces its content.
"use strict";
(() => {
  const SCRIPT = new URL(document.currentScript.src);
  const LONGEST_LAYOUT_MS = 20000;
  const SHORTEST_REST_MS = 5000; // between two layouts that the reader did not ask for
  const LEAST = 0.6; // scale at which the whole graph can be read; else it starts at READABLE
  const READABLE = 0.85;
  const layouts = new Map(); // by key of the structure and shape of the room
  const ruler = document.createElement("canvas").getContext("2d");

  function make(space, name, attributes, parent, text = "") {
    const node = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    parent.append(node);
    return node;
  }
  const html = make.bind(null, "http://www.w3.org/1999/xhtml");
  const svg = make.bind(null, "http://www.w3.org/2000/svg");

  async function json(address, cache = "default") {
    const answer = await fetch(address, { headers: { Accept: "application/json" }, cache });
    if (!answer.ok) throw new Error(`the server said ${answer.status}`);
    return answer.json();
  }

  function layOut(structure, room) {
    const key = `${structure.key} ${room.width >= room.height}`;
    if (!layouts.has(key)) {
      const found = inWorker({ structure, room });
      found.catch(() => layouts.delete(key));
      if (layouts.size > 30) layouts.clear();
      layouts.set(key, found);
    }
    return layouts.get(key);
  }
  function inWorker(task) {
    const worker = new Worker(new URL("graph-worker.js" + SCRIPT.search, SCRIPT));
    return new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = () => reject(new Error("its layout failed"));
      setTimeout(() => reject(new Error("its layout took too long")), LONGEST_LAYOUT_MS);
      worker.postMessage(task);
    }).finally(() => worker.terminate());
  }

  // The text, or as much of its start as is about `width` wide.
  function shorten(text, width, font) {
    ruler.font = `${font} system-ui, sans-serif`;
    const whole = ruler.measureText(text).width;
    if (whole <= width) return text;
    return text.slice(0, Math.floor((text.length * (width - 8)) / whole)) + "…";
  }

  // A line through the points that is round where it turns.
  function rounded(points) {
    const [start, ...rest] = points.map(({ x, y }) => [x, y]);
    const turns = rest.slice(0, -1).map(([x, y], place) => {
      const [nextX, nextY] = rest[place + 1];
      return `Q${x} ${y} ${(x + nextX) / 2} ${(y + nextY) / 2}`;
    });
    return `M${start} ${turns.join(" ")} L${rest.at(-1)}`;
  }

  const classes = ({ kind, takes_back: back }) => `box ${kind}${back ? " back" : ""}`;

  class Graph {
    constructor(figure) {
      this.figure = figure;
      this.opened = new Set();
      this.tools = html("div", { class: "graph-tools" }, figure);
      const room = { class: "graph-room", role: "region", "aria-label": "graph", tabindex: 0 };
      this.room = html("div", room, figure);
      this.status = html("p", { class: "graph-status" }, figure, "Loading");
      this.tool("−", "zoom out", () => this.zoom(this.scale / 1.25));
      this.tool("+", "zoom in", () => this.zoom(this.scale * 1.25));
      this.tool("Fit", "show the whole graph", () => this.zoom(this.whole()));
      if (figure.dataset.states)
        this.followTool = this.tool("Follow", "keep what runs in view", () =>
          this.setFollow(!this.follow));
      this.setFollow(true);
      this.listen();
      this.refresh();
    }

    tool(label, name, act) {
      const attributes = { type: "button", title: name };
      const button = html("button", attributes, this.tools, label);
      if (label.length === 1) button.setAttribute("aria-label", name);
      button.addEventListener("click", () => this.layout && act());
      return button;
    }

    listen() {
      this.figure.addEventListener("qwf:refresh", () => this.refresh());
      this.room.addEventListener("keydown", (event) => this.pressed(event));
      const moved = () => this.setFollow(false); // by the reader: the script must not move it back
      for (const kind of ["wheel", "touchmove", "pointerdown"])
        this.room.addEventListener(kind, moved, { passive: true });
      const zoomed = (event) => {
        if (!event.ctrlKey || !this.layout) return; // without it the wheel scrolls
        event.preventDefault();
        this.zoom(this.scale * Math.exp(-event.deltaY / 300), event);
      };
      this.room.addEventListener("wheel", zoomed, { passive: false });
      this.room.addEventListener("touchmove", (event) => this.pinched(event), { passive: false });
      this.room.addEventListener("touchend", () => (this.apart = null));
      this.room.addEventListener("pointermove", (event) => this.dragged(event));
      this.room.addEventListener("pointerdown", (event) => {
        this.pressedAt = [event.clientX, event.clientY];
        this.drags = false;
      });
      const clicked = (event) => {
        if (!this.drags) return;
        event.preventDefault(); // the end of a drag is no click on what is under it
        event.stopPropagation();
      };
      this.room.addEventListener("click", clicked, { capture: true });
      this.room.addEventListener("dragstart", (event) => event.preventDefault());
      new ResizeObserver(() => this.layout && !this.zoomed && this.start()).observe(this.figure);
    }

    setFollow(follow) {
      this.follow = follow;
      this.followTool?.setAttribute("aria-pressed", follow);
      if (follow) this.showRunning();
    }

    // What is drawn ------------------------------------------------------------------------------

    // One refresh at a time; one that is asked for meanwhile comes after it.
    async refresh() {
      this.again = this.busy;
      if (this.busy) return;
      this.busy = true;
      try {
        const states = this.figure.dataset.states && (await json(this.address("states")));
        await this.redraw(states);
        if (states) this.paint(states);
      } catch (problem) {
        this.status.textContent = `The graph could not be drawn: ${problem.message}.`;
      }
      this.busy = false;
      if (this.again) this.refresh();
    }

    address(name) {
      const address = new URL(this.figure.dataset[name], document.baseURI);
      for (const step of this.opened) address.searchParams.append("open", step);
      return address;
    }

    // Lays out the structure that the states are about, if it is not the one that is drawn.
    async redraw(states) {
      const { asked } = this;
      if (this.structure && !asked) {
        if (!states || states.key === this.structure.key) return;
        if (performance.now() - this.drawnAt < SHORTEST_REST_MS) return;
      }
      let structure = await json(this.address("structure"));
      if (states && states.key !== structure.key)
        structure = await json(this.address("structure"), "reload");
      const room = { width: this.room.clientWidth || 800, height: this.height() };
      this.layout = await layOut(structure, room);
      this.structure = structure;
      this.drawnAt = performance.now();
      const focused = this.boxWithFocus();
      const { scrollLeft: left, scrollTop: top } = this.room;
      this.draw();
      if (asked || !this.zoomed) this.start();
      else this.zoom(this.scale);
      if (asked) this.showStep(asked.step);
      else this.room.scrollTo({ left, top, behavior: "instant" });
      if (!asked && focused) this.focus(this.boxes.get(focused)?.link ?? this.room);
      if (this.asked === asked) this.asked = null; // else the reader has asked for more meanwhile
    }

    draw() {
      const { structure, layout } = this;
      const size = { viewBox: `0 0 ${layout.width} ${layout.height}` };
      this.room.replaceChildren();
      this.scene = svg("svg", size, this.room);
      const outline = (kind, [x, y, width, height]) =>
        svg("rect", { class: kind, x, y, width, height, rx: 9 }, this.scene);
      for (const frame of structure.frames) outline("frame", layout.frames[frame.id]);
      for (const block of structure.blocks) outline("block", layout.blocks[block.id]);
      this.edges = layout.edges.map((points, place) => this.drawEdge(points, place));
      for (const frame of structure.frames) this.drawName(frame, layout.frames[frame.id]);
      this.boxes = new Map(structure.boxes.map((box) => [box.id, this.drawBox(box)]));
      this.boxes.values().next().value?.link.setAttribute("tabindex", 0);
      this.say("");
    }

    drawName(frame, [x, y]) {
      const name = { class: "name", x: x + 2, y: y - 6 };
      if (!frame.opened) return svg("text", name, this.scene, frame.label);
      const link = svg("a", { role: "button", "aria-label": `close ${frame.label}` }, this.scene);
      svg("text", name, link, `− ${frame.label}`);
      return this.acts(link, () => this.toggle(frame.step));
    }

    drawEdge(points, place) {
      const [from, to] = this.structure.edges[place];
      const back = this.structure.boxes.some((box) => box.id === to && box.takes_back);
      const edge = svg("g", { class: back ? "edge back" : "edge" }, this.scene);
      const [before, tip] = points.slice(-2);
      const turn = (Math.atan2(tip.y - before.y, tip.x - before.x) * 180) / Math.PI;
      const transform = `translate(${tip.x} ${tip.y}) rotate(${turn})`;
      svg("path", { class: "line", d: rounded(points) }, edge);
      svg("path", { class: "tip", d: "M0 0L-7 -3.5V3.5z", transform }, edge);
      const block = this.structure.blocks.find(({ id }) => id === from);
      return { edge, from: block ? block.boxes : [from] };
    }

    drawBox(box) {
      const { width, height, kind } = box;
      const [x, y] = this.layout.boxes[box.id];
      const link = svg("a", { class: classes(box), tabindex: -1 }, this.scene);
      link.setAttribute("transform", `translate(${x} ${y})`);
      const title = svg("title", {}, link);
      if (kind === "stack" || kind === "step")
        svg("rect", { class: "behind", x: 4, y: 4, width, height, rx: 8 }, link);
      svg("rect", { class: "face", width, height, rx: 8 }, link);
      const icon = svg("path", { class: "icon", transform: "translate(11 8)" }, link);
      const left = this.figure.dataset.states ? 35 : 14;
      const room = width - left - 12;
      const named = box.takes_back ? `↶ ${box.label}` : box.label;
      const label = shorten(named, room - (box.opens ? 16 : 0), "600 13px");
      const middle = box.detail || this.figure.dataset.states ? 20 : height / 2 + 5;
      svg("text", { class: "label", x: left, y: middle }, link, label);
      const line = svg("text", { class: "line", x: left, y: 36 }, link);
      const plus = { class: "opens", x: width - 20, y: 21, "aria-hidden": true };
      if (box.opens) svg("text", plus, link, "+");
      const bar = svg("g", { class: "bar", transform: `translate(10 ${height - 9})` }, link);
      const parts = { box, link, title, icon, line, bar, room };
      this.write(parts, box.detail);
      if (box.opens) this.acts(link, () => this.toggle(box.opens)).setAttribute("role", "button");
      else this.leads(link, kind === "node" || kind === "map" ? null : this.figure.dataset.table);
      return parts;
    }

    write({ box, title, line, room }, text, more) {
      line.textContent = shorten(text, room, "400 11.5px");
      const detail = text === box.detail ? "" : box.detail;
      const name = [`${box.label} ${text}`, box.kind, detail, more].filter(Boolean);
      title.textContent = name.join(", "); // names the box: it begins with what is seen
    }

    leads(link, address) {
      const here = /^(#|\/(?![/\\]))/.test(address ?? ""); // a path of this server
      if (here) link.setAttribute("href", address);
      if (here) link.removeAttribute("role");
      else link.setAttribute("role", "img");
    }

    acts(link, act) {
      link.setAttribute("tabindex", link.getAttribute("tabindex") ?? 0);
      link.addEventListener("click", act);
      link.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        act();
      });
      return link;
    }

    toggle(step) {
      if (!this.opened.delete(step)) this.opened.add(step);
      this.asked = { step };
      this.refresh();
    }

    // Sets classes, words and bars; nothing moves.
    paint(states) {
      this.states = states.boxes;
      for (const [id, parts] of this.boxes) {
        const state = states.boxes[id];
        if (!state?.state) continue;
        parts.link.setAttribute("class", `${classes(parts.box)} ${state.state}`);
        parts.icon.setAttribute("d", this.structure.icons[state.state] ?? "");
        this.write(parts, state.text, state.title);
        this.fill(parts, state);
        if (state.href) this.leads(parts.link, state.href);
      }
      const done = (id) => ["completed", "skipped"].includes(states.boxes[id]?.state);
      for (const { edge, from } of this.edges) edge.classList.toggle("passed", from.every(done));
      this.say(states.summary);
      if (this.follow) this.showRunning();
    }

    fill({ box, bar }, { counts, progress, needs }) {
      bar.replaceChildren();
      if (!counts && progress === undefined) return;
      const width = box.width - 20;
      const parts = Object.entries(counts ?? { running: progress });
      const total = counts ? parts.reduce((sum, [, count]) => sum + count, 0) : 1;
      svg("rect", { class: "trough", width, height: 4, rx: 2 }, bar);
      let x = 0;
      for (const [state, count] of parts) {
        svg("rect", { class: state, x, width: (width * count) / total, height: 4 }, bar);
        x += (width * count) / total;
      }
      if (needs !== undefined)
        svg("rect", { class: "needs", x: width * needs - 1, y: -3, width: 2, height: 10 }, bar);
    }

    say(more) {
      const { summary, edges_left_out: cut } = this.structure;
      const parts = [summary, cut ? `${cut} edges not drawn` : "", more].filter(Boolean);
      this.status.textContent = parts.join(" · ");
      this.room.setAttribute("aria-label", `graph: ${parts.join(", ")}`);
    }

    // Where the reader looks ---------------------------------------------------------------------

    height() {
      return Math.max(240, 0.7 * window.innerHeight);
    }
    whole() {
      const { width, height } = this.layout;
      return Math.min(1, this.room.clientWidth / width, this.height() / height);
    }

    start() {
      this.zoom(this.whole() < LEAST ? READABLE : this.whole());
      this.zoomed = false;
      if (this.follow) this.showRunning();
    }

    // Keeps the point under the pointer, or the middle, where it is.
    zoom(scale, at) {
      const { room, layout } = this;
      const { left, top } = room.getBoundingClientRect();
      const [x, y] = at ? [at.clientX - left, at.clientY - top]
        : [room.clientWidth / 2, room.clientHeight / 2];
      const before = this.scale ?? scale;
      this.scale = Math.min(2.5, Math.max(Math.min(0.1, this.whole()), scale));
      const [fromX, fromY] = [(room.scrollLeft + x) / before, (room.scrollTop + y) / before];
      this.scene.setAttribute("width", layout.width * this.scale);
      this.scene.setAttribute("height", layout.height * this.scale);
      room.style.maxHeight = `${this.height()}px`;
      const [toX, toY] = [fromX * this.scale - x, fromY * this.scale - y];
      room.scrollTo({ left: toX, top: toY, behavior: "instant" });
      this.zoomed = true;
    }

    // Scrolls the room, but never the page, until the box is in the middle.
    show(id) {
      const { room, scale } = this;
      const { width, height } = this.boxes.get(id).box;
      const [x, y] = this.layout.boxes[id];
      const left = (x + width / 2) * scale - room.clientWidth / 2;
      room.scrollTo({ left, top: (y + height / 2) * scale - room.clientHeight / 2 });
    }

    isInView(id) {
      const around = this.room.getBoundingClientRect();
      const { left, right, top, bottom } = this.boxes.get(id).link.getBoundingClientRect();
      return left >= around.left && right <= around.right + 1
        && top >= around.top && bottom <= around.bottom + 1;
    }

    showRunning() {
      const ids = [...(this.boxes?.keys() ?? [])];
      const of = (...names) => ids.filter((id) => names.includes(this.states?.[id]?.state));
      const busy = of("running", "awaiting_input");
      const wanted = busy.length ? busy : of("failed");
      if (wanted.length && !wanted.some((id) => this.isInView(id))) this.show(wanted[0]);
    }

    showStep(step) {
      const box = this.structure.boxes.find((one) => one.frame === step || one.opens === step);
      if (!box) return;
      this.show(box.id);
      this.focus(this.boxes.get(box.id).link);
    }

    pressed(event) {
      if (!this.layout || event.ctrlKey || event.metaKey || event.altKey) return;
      const move = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      const box = event.target.closest(".box");
      if (event.key === "+" || event.key === "=") this.zoom(this.scale * 1.25);
      else if (event.key === "-") this.zoom(this.scale / 1.25);
      else if (event.key === "0") this.zoom(this.whole());
      else if (move && box) this.step(box, move);
      else return; // arrows scroll the room by themselves
      event.preventDefault();
    }

    step(link, by) {
      const links = [...this.boxes.values()].map((parts) => parts.link);
      const next = links[links.indexOf(link) + by];
      if (next) this.focus(next);
    }
    boxWithFocus() {
      const links = [...(this.boxes ?? [])];
      return links.find(([, { link }]) => link === document.activeElement)?.[0];
    }
    focus(link) {
      this.scene.querySelector('.box[tabindex="0"]')?.setAttribute("tabindex", -1);
      link.setAttribute("tabindex", 0);
      link.focus();
    }

    pinched(event) {
      if (event.touches.length !== 2 || !this.layout) return;
      event.preventDefault();
      const [{ clientX: aX, clientY: aY }, { clientX: bX, clientY: bY }] = event.touches;
      const apart = Math.hypot(aX - bX, aY - bY);
      const middle = { clientX: (aX + bX) / 2, clientY: (aY + bY) / 2 };
      if (this.apart) this.zoom(this.scale * (apart / this.apart), middle);
      this.apart = apart;
    }

    // A mouse drags the graph; a finger scrolls it without a script.
    dragged(event) {
      if (event.pointerType !== "mouse" || event.buttons !== 1) return;
      const [x, y] = this.pressedAt;
      this.drags ||= Math.hypot(event.clientX - x, event.clientY - y) > 4;
      this.room.scrollBy({ left: -event.movementX, top: -event.movementY, behavior: "instant" });
    }
  }

  // Figures that are there, and those that come later.
  const drawn = new WeakSet();
  function find() {
    for (const figure of document.querySelectorAll("figure.graph[data-structure]"))
      if (!drawn.has(figure)) drawn.add(figure) && new Graph(figure);
  }
  new MutationObserver(find).observe(document.documentElement, { childList: true, subtree: true });
  find();
})();
