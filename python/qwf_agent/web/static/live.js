// What every page does: it stays fresh, it remembers theme and zone, it can be steered by keys.
(() => {
  "use strict";
  const body = document.body;
  const live = document.getElementById("live");
  const POLL_MS = 5000, SILENCE_MS = 15000, SLOW_MS = 30000;
  const cookie = (name, value) => {
    document.cookie = `${name}=${encodeURIComponent(value)};path=${body.dataset.root || "/"};max-age=31536000;samesite=lax`;
  };

  // --- fresh: a stream names what has changed; without one, we ask every 5 s
  const topics = new Set((live?.dataset.topics || "").split(" ").filter(Boolean));
  const every = () => Number(document.getElementById("badges")?.dataset.every || 0) * 1000;
  let stream = null, heard = 0, silent = false, asked = 0, lost = 0, busy = false, again = false;

  function refresh() {
    if (!live || document.hidden) return;
    if (busy && Date.now() - asked < SLOW_MS) { again = true; return; }
    asked = Date.now();
    htmx.trigger(live, "refresh");
  }
  const stale = document.getElementById("stale");
  const clock = () => new Date().toLocaleTimeString([], {hour12: false});
  if (stale) stale.querySelector("time").textContent = clock();
  function settled(ok) {
    busy = false;
    live.classList.toggle("stale", !ok);
    if (ok !== stale.hidden) stale.hidden = ok;
    if (ok) {
      lost = 0;
      const now = clock();
      document.getElementById("fresh").textContent = "as of " + now;
      stale.querySelector("time").textContent = now;
      badge();
      document.dispatchEvent(new CustomEvent("qwf:fresh"));
      for (const drawn of document.querySelectorAll(".graph, .cells")) drawn.dispatchEvent(new CustomEvent("qwf:refresh"));
    } else {
      lost += 1;
    }
    if (again) { again = false; setTimeout(refresh, 300); }
  }
  function open() {
    const tells = "tells" in body.dataset;  // see tell.js: this tab listens while it is hidden, too
    if (stream || !body.dataset.stream || !(tells || topics.size && !document.hidden)) return;
    stream = new EventSource(body.dataset.stream);
    heard = Date.now();
    const hear = () => {
      heard = Date.now();
      silent = false;
      document.dispatchEvent(new CustomEvent("qwf:heard"));
    };
    stream.addEventListener("changed", (event) => {
      hear();
      if (event.data.split(" ").some((topic) => topics.has(topic) || topic === "lost")) refresh();
    });
    stream.addEventListener("tick", hear);
    let broken = false;  // what changed between two streams, no stream says
    stream.addEventListener("error", () => { broken = true; });
    stream.addEventListener("open", () => { if (broken) { broken = false; refresh(); } });
    stream.addEventListener("sample", (event) => {
      hear();
      document.dispatchEvent(new CustomEvent("qwf:sample", {detail: event.data}));
    });
  }
  function close() { stream?.close(); stream = null; }
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) { open(); refresh(); } else if (!("tells" in body.dataset)) close();
  });
  document.addEventListener("qwf:tells", open);
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted) { open(); refresh(); } });
  setInterval(() => {
    if (document.hidden || !live) return;
    const now = Date.now();
    if (stream && now - heard > SILENCE_MS && stream.readyState !== EventSource.CLOSED) { close(); open(); silent = true; }
    const alive = stream && stream.readyState === EventSource.OPEN && !silent;
    const wait = lost ? Math.min(SLOW_MS, 1000 * 2 ** lost) : every() || (topics.size && !alive ? POLL_MS : 0);
    if (wait && now - asked >= wait) refresh();
    const left = Math.ceil((wait - (now - asked)) / 1000);
    if (lost) stale.querySelector("[data-again]").textContent = busy || left < 1 ? "Trying again." : `Trying again in ${left} s.`;
  }, 500);
  document.addEventListener("htmx:before:request", (event) => {
    if (event.detail?.ctx?.sourceElement === live) busy = true;
  });
  document.addEventListener("htmx:finally:request", (event) => {
    const ctx = event.detail?.ctx;
    if (ctx?.sourceElement === live) settled(Boolean(ctx.response?.raw) && ctx.response.raw.status < 500);
    else {
      if (!ctx?.response?.raw || ctx.response.raw.status >= 500) unanswered(ctx?.sourceElement);
      asked = 0; setTimeout(refresh, 50);  // somebody did something: show what it changed
    }
  });
  // A form that may not have arrived: it is as it was, and can be sent again.
  function unanswered(form) {
    if (!form?.matches?.("form")) return;
    const notices = document.getElementById("notices");
    let note = notices.lastElementChild;
    if (!note?.matches(".refused")) {
      note = document.createElement("p");
      note.className = "notice refused";
      note.textContent = "✗ No answer. Nobody knows whether it has arrived. ";
      notices.append(note);
    }
    const again = document.createElement("button");
    again.type = "button"; again.className = "again"; again.textContent = "Send again";
    again.addEventListener("click", () => { note.remove(); if (form.isConnected) form.requestSubmit(); });
    note.append(" ", again);
  }
  document.addEventListener("htmx:error", (event) => {
    if (event.detail?.ctx?.sourceElement === live) settled(false);
  });

  // --- what failed, who is asked and what alerts are open: in the menu; the title and the icon have the first two
  function badge() {
    const badges = document.getElementById("badges")?.dataset ?? {};
    const {failed, asked} = badges;
    if (failed === undefined) return;
    const capped = (count) => count > 99 ? "99+" : String(count);
    for (const mark of document.querySelectorAll("[data-count]")) {
      const count = Number(badges[mark.dataset.count]);
      mark.textContent = capped(count);
      mark.hidden = !count;
    }
    const marks = (failed > 0 ? `✗${capped(failed)} ` : "") + (asked > 0 ? `?${capped(asked)} ` : "");
    document.title = marks + document.title.replace(/^(✗\S+ )?(\?\S+ )?/, "");
    const icon = document.querySelector("[data-icons]");
    const address = icon.dataset.icons + (failed > 0 ? "-failed" : asked > 0 ? "-asked" : "") + ".svg";
    if (icon.getAttribute("href") !== address) icon.setAttribute("href", address);
  }

  // --- times are written by the server, in the zone of the browser, which a cookie names
  addEventListener("load", () => setTimeout(() => {  // after htmx, which reads the page in such a task
    const zone = encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone || "");
    if (zone && !document.cookie.includes(`qwf_zone=${zone}`)) {
      cookie("qwf_zone", decodeURIComponent(zone));
      if (document.cookie.includes("qwf_zone=")) refresh();
    }
    open();
  }));

  // --- on a phone the menu and the tabs scroll: the chosen entry of each is in view
  function chosen() {
    for (const entry of document.querySelectorAll(":is(.menu, .tabs) > [aria-current]")) {
      const menu = entry.parentElement;
      menu.scrollLeft = entry.offsetLeft - (menu.clientWidth - entry.offsetWidth) / 2 - menu.offsetLeft;
    }
  }
  chosen();
  document.addEventListener("change", (event) => { if (event.target.id === "filters-shown") chosen(); });

  // --- theme, keys, notices, copies
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) {
      for (const sheet of document.querySelectorAll("details.confirm[open], details.me[open]"))
        if (!sheet.contains(event.target)) sheet.open = false;
      return;
    }
    if (button.dataset.themeChoice) {
      document.documentElement.dataset.theme = button.dataset.themeChoice;
      cookie("qwf_theme", button.dataset.themeChoice);
      for (const other of document.querySelectorAll("[data-theme-choice]"))
        other.setAttribute("aria-pressed", String(other === button));
    } else if ("tryNow" in button.dataset) { busy = false; refresh(); }
    else if ("keep" in button.dataset) {
      const sheet = button.closest("details.confirm");
      sheet.open = false;
      sheet.querySelector("summary").focus();
    } else if ("close" in button.dataset) button.closest(".notice").remove();
    else if ("help" in button.dataset) document.getElementById("keys").showModal();
    else if (button.classList.contains("copy")) copy(button);
  });
  function fit() {
    for (const sheet of document.querySelectorAll("details.confirm[open] > .sheet"))
      if (sheet.getBoundingClientRect().right > innerWidth) sheet.style.right = "0";
  }
  document.addEventListener("toggle", (event) => {  // a sheet stays in the window
    if (!event.target.matches("details.confirm[open]")) return;
    fit();
    // the focus goes in, but to no button: a second Enter must not do what the first has asked about
    if (document.activeElement === event.target.querySelector("summary"))
      event.target.querySelector(":scope > form.sheet")?.focus({preventScroll: true});
  }, true);
  document.addEventListener("qwf:fresh", fit);
  document.addEventListener("submit", (event) => {
    const sheet = event.target.closest("details.confirm");
    if (sheet) setTimeout(() => { sheet.open = false; }, 0);
    const undone = event.target.closest(".notice");
    if (undone) setTimeout(() => undone.hidden = true, 0);
  });
  new MutationObserver((changes) => {
    for (const change of changes) for (const node of change.addedNodes)
      if (node.classList?.contains("done")) setTimeout(() => node.remove(), node.querySelector("a") ? 20000 : node.querySelector("form") ? 10000 : 6000);
  }).observe(document.getElementById("notices"), {childList: true});

  function copy(button) {  // without navigator.clipboard, which needs https
    const area = document.createElement("textarea");
    area.value = button.dataset.text ?? button.nextElementSibling?.textContent ?? "";
    body.append(area); area.select(); document.execCommand("copy"); area.remove(); button.focus();
    const said = button.textContent;
    button.textContent = "copied"; setTimeout(() => { button.textContent = said; }, 1500);
  }

  // --- keys: / search, g and a letter, j k x Enter on rows, letters of the row's buttons
  const choice = document.querySelector("[data-keys-choice]");
  if (choice) {
    choice.checked = localStorage.getItem("qwf-keys") !== "off";
    choice.addEventListener("change", () => localStorage.setItem("qwf-keys", choice.checked ? "on" : "off"));
  }
  let going = 0;
  const rows = () => [...document.querySelectorAll("[data-row]")];
  const current = () => document.querySelector("[data-row][aria-current]")  // a refresh takes it off
    ?? document.activeElement?.closest("[data-row]");
  function step(by) {
    const all = rows(), at = all.indexOf(current());
    const next = all[Math.max(0, Math.min(all.length - 1, at + by))];
    if (!next) return;
    current()?.removeAttribute("aria-current");
    next.setAttribute("aria-current", "true");
    next.scrollIntoView({block: "nearest"});
    next.querySelector("a")?.focus({preventScroll: true});
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") for (const sheet of document.querySelectorAll("details.confirm[open], details.me[open]")) {
      const held = sheet.contains(document.activeElement);
      sheet.open = false;
      if (held) sheet.querySelector("summary").focus();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || choice?.checked === false) return;
    if (event.target.closest("input, textarea, select, [contenteditable], dialog")) return;
    const key = event.key;
    if (Date.now() - going < 1500) {
      going = 0;
      const link = document.querySelector(`[data-go="${CSS.escape(key)}"]`);
      if (link) { event.preventDefault(); location.href = link.href; }
      return;
    }
    if (key === "g") going = Date.now();
    else if (key === "/") { event.preventDefault(); document.querySelector(".search input")?.focus(); }
    else if (key === "?") document.getElementById("keys").showModal();
    else if (key === "j") step(1);
    else if (key === "k") step(-1);
    else if (key === "x") current()?.querySelector('input[type="checkbox"]')?.click();
    else if (key === "Enter" && !event.target.closest("a, button, summary, .sheet")) current()?.querySelector("a")?.click();
    else {
      const button = current()?.querySelector(`[data-key="${CSS.escape(key)}"]`);
      button?.closest("details.acts")?.setAttribute("open", "");
      button?.click();
      if (button?.matches("summary")) button.focus();  // Tab goes on to the fields behind it
    }
  });
})();
