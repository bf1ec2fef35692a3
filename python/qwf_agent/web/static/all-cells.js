// The page of all cells: asks each of them for its figures, and says which one does not answer.
(() => {
  "use strict";
  const EVERY_MS = 5000, PATIENCE_MS = 10000, OLD_TICK_S = 60;
  const MOST = {asked: 1000, failed: 1000};

  const written = (key, seen) => {
    const count = seen[key], most = MOST[key] ?? Infinity;
    return (count > most || seen[`more_${key}`] ? "> " : "") + Math.min(count, most).toLocaleString("en");
  };
  function troubles(seen) {
    const found = [];
    if (seen.tick_s > OLD_TICK_S) found.push(seen.tick_s >= 1e9 ? "no tick yet" : "no tick for over a minute: start an agent");
    if (seen.dead) found.push(`${seen.dead} dead ${seen.dead === 1 ? "worker" : "workers"}`);
    if (seen.held.length) found.push(`jobs that cannot start in ${seen.held.join(", ")}`);
    return found;
  }
  function say(card, kind, text) {
    const line = card.querySelector("[data-state]");
    if (line.textContent !== text) line.textContent = text;
    line.className = kind;
  }
  function show(card, seen) {
    card.querySelector("[data-of]").textContent = `cell ${seen.cell} of ${seen.cells}`;
    for (const figure of card.querySelectorAll("[data-figure]")) {
      const key = figure.dataset.figure;
      figure.querySelector("strong").textContent = written(key, seen);
      figure.className = !seen[key] ? "" : key === "failed" ? "bad" : key === "asked" ? "ask" : "";
    }
    card.querySelector(".figures").hidden = false;
    const found = troubles(seen);
    say(card, found.length ? "error" : "", found.length ? `✗ ${found.join("; ")}` : "✓ it answers");
    card.dataset.seen = new Date().toLocaleTimeString([], {hour12: false});
  }
  function lost(card) {
    const since = card.dataset.seen ? ` since ${card.dataset.seen}: what you see is old` : "";
    say(card, "error", `✗ it does not answer${since}`);
  }
  async function ask(card) {
    try {
      const answer = await fetch(`${card.dataset.cell}/glance`, {signal: AbortSignal.timeout(PATIENCE_MS)});
      if (answer.redirected && new URL(answer.url).pathname.endsWith("/sign-in")) say(card, "muted", "Open it to sign in.");
      else if (answer.ok) show(card, await answer.json());
      else if (answer.status < 500) say(card, "muted", (await answer.text()).trim());
      else lost(card);
    } catch {
      lost(card);
    }
  }
  async function askAll() {
    if (!document.hidden) await Promise.all([...document.querySelectorAll("[data-cell]")].map(ask));
    setTimeout(askAll, EVERY_MS);
  }
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) document.querySelectorAll("[data-cell]").forEach(ask);
  });
  askAll();
})();
