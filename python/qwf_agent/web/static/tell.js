// "In this browser": a notification of this tab, as long as it is open, when something happens to what
// it watches. What that is survives a change of the page, and ends with the tab.
(() => {
  "use strict";
  const KEY = "qwf-tell", AT_MOST_MS = 2000, SILENCE_MS = 15000, MOST = 50;
  const body = document.body, can = "Notification" in window;
  const kept = () => { try { return JSON.parse(sessionStorage.getItem(KEY)) || {}; } catch { return {}; } };
  let watched = new Set(kept().watched || []), after = kept().after ?? null;
  let asked = 0, busy = false, again = 0;

  function keep() {
    sessionStorage.setItem(KEY, JSON.stringify({watched: [...watched], after}));
    body.toggleAttribute("data-tells", watched.size > 0);  // live.js keeps the stream of a hidden tab
    draw();
  }
  // The buttons of the page: the server draws them again, and knows nothing of this tab.
  function draw() {
    for (const button of document.querySelectorAll("[data-tell]")) {
      const on = watched.has(button.dataset.tell), why = button.nextElementSibling;
      const denied = !can || Notification.permission === "denied";
      const full = watched.size >= MOST;
      button.disabled = (denied || full) && !on;
      button.setAttribute("aria-pressed", String(on));
      button.classList.toggle("primary", on);
      const said = !can ? "this browser shows notifications only of pages by https, or of localhost"
        : denied ? "this browser does not let the page notify you"
        : on ? "on, while this tab is open"
        : full ? `this tab already watches ${MOST}: switch another off` : "while this tab is open";
      if (why && why.textContent !== said) why.textContent = said;
    }
  }
  const address = () => {
    const given = new URLSearchParams(after === null ? {} : {after: String(after)});
    for (const what of watched) {
      const [kind, ...name] = what.split(" ");
      given.append(kind, name.join(" ") || "1");
    }
    return `${body.dataset.told}?${given}`;
  };
  async function look() {
    if (!watched.size || busy || Date.now() - asked < AT_MOST_MS) {
      if (watched.size && !again) again = setTimeout(() => { again = 0; look(); }, AT_MOST_MS);
      return;
    }
    busy = true;
    asked = Date.now();
    try {
      const answer = await fetch(address(), {cache: "no-store", headers: {Accept: "application/json"}});
      if (answer.ok && answer.headers.get("content-type")?.includes("json")) hear(await answer.json());
    } catch { /* no answer: live.js says so, and the next tick asks again */ }
    busy = false;
  }
  function hear({last, told}) {
    const known = after !== null;
    after = last;
    for (const one of known ? told : []) {
      if (one.what && !watched.has(one.what)) continue;  // switched off meanwhile
      say(one);
      if (one.over) watched.delete(one.what);
    }
    keep();
  }
  function say({text, path, tag}) {
    const to = (body.dataset.base || "") + path;
    try {
      const shown = new Notification("qwf", {body: text, tag: `qwf ${tag}`, icon: body.dataset.icon});
      shown.addEventListener("click", () => { window.focus(); location.href = to; shown.close(); });
    } catch {  // a phone shows those of a service worker only
      const note = document.createElement("p"), link = document.createElement("a");
      note.className = "notice";
      link.href = to;
      link.textContent = text;
      note.append(link);
      document.getElementById("notices").append(note);
    }
  }
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-tell]");
    if (!button) return;
    const what = button.dataset.tell;
    if (watched.has(what)) watched.delete(what);
    else if (await Notification.requestPermission() === "granted" && watched.size < MOST) {
      if (!watched.size) after = null;  // from now on
      watched.add(what);
    }
    keep();
    document.dispatchEvent(new CustomEvent("qwf:tells"));
    asked = 0;
    look();
  });
  document.addEventListener("qwf:heard", look);
  document.addEventListener("qwf:fresh", draw);
  setInterval(() => { if (watched.size && Date.now() - asked > SILENCE_MS) look(); }, 5000);
  keep();
})();
