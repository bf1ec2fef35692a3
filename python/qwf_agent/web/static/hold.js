// A list holds still while somebody points at a row of it, has the focus in one, or has ticked one:
// a button acts on the row that it was aimed at. A list of the newest also holds still while somebody
// has scrolled down in it. Rows change in place, new ones wait behind
// "3 newer: show", and those that are gone stay, paler. All else is refreshed as always.
(() => {
  "use strict";
  const ITEMS = "[data-row][id], .boxes > [id]", SCROLLED = 40;
  const live = document.getElementById("live"), pill = document.querySelector("#newer > button");
  if (!live || !pill) return;
  let passes = false;  // the next refresh shows everything
  let aim = null;      // the row below the pointer, or the first in the window, and where it was
  let scrolls = false; // what is new is above the window

  function held() {
    const hovered = matchMedia("(hover: hover)").matches && live.querySelector("[data-row]:hover");
    const ticked = live.querySelectorAll('[data-row] input[type="checkbox"]:checked');
    aim = hovered ? {id: hovered.id, top: hovered.getBoundingClientRect().top} : null;
    return [hovered, document.activeElement, ...ticked]
      .map((one) => one && one.closest("#live [data-row]")).filter(Boolean);
  }
  // The rows in the window of lists of the newest, while the page is scrolled.
  function read() {
    if (scrollY < SCROLLED) return [];
    const rows = [...live.querySelectorAll("[data-newest] > [data-row]")].filter((row) => {
      const {top, bottom} = row.getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    });
    if (rows.length) aim ??= {id: rows[0].id, top: rows[0].getBoundingClientRect().top};
    return rows;
  }
  // The lists that hold still: those of these rows, and the cards around them.
  function still(rows) {
    const found = new Set();
    for (const row of rows)
      for (let item = row; item; item = item.parentElement.closest(ITEMS)) found.add(key(item.parentNode));
    return found;
  }
  // What a list is called: the same in the page and in what comes.
  function key(list) {
    if (list === live || list instanceof DocumentFragment) return "";
    const name = list.closest("table")?.caption ?? list.closest("section, article")?.querySelector("h2, h3");
    return `${list.className} ${name?.textContent.trim() ?? ""}`;
  }
  function lists(root) {
    const found = new Map();
    for (const item of root.querySelectorAll(ITEMS)) {
      const of = key(item.parentNode);
      if (!found.has(of)) found.set(of, []);
      found.get(of).push(item);
    }
    return found;
  }
  // Give `items`, which come, the order of the rows that are there; say how many are new and gone.
  function arrange(rows, items) {
    const list = items[0].parentNode, place = document.createComment("");
    const coming = new Map(items.map((item) => [item.id, item]));
    const known = new Set(rows.map((row) => row.id));
    const grows = items.some((item) => !known.has(item.id));
    // behind the last row that comes, the newer ones have pushed rows onto the next page
    const last = grows ? rows.findLastIndex((row) => coming.has(row.id)) : rows.length;
    items[0].before(place);
    let gone = 0;
    for (const [at, row] of rows.entries()) {
      let item = coming.get(row.id);
      if (!item) {
        item = row.cloneNode(true);
        item.classList.toggle("gone", at < last);
        gone += at < last;
      }
      coming.delete(row.id);
      list.insertBefore(item, place);
    }
    for (const item of coming.values()) item.remove();
    place.remove();
    return {newer: coming.size, gone};
  }
  function say(text) {
    pill.hidden = !text;
    if (text && pill.textContent !== text) pill.textContent = text;
  }
  document.addEventListener("htmx:before:swap", (event) => {
    const {ctx, tasks} = event.detail ?? {};
    const coming = ctx?.sourceElement === live && tasks?.find((task) => task.type === "main")?.fragment;
    if (!coming) return;
    const firm = passes ? new Set() : still(held()), come = lists(coming);
    const keep = new Set([...firm, ...(passes ? [] : still(read()))]);
    if (passes && !firm.size) scrolls = scrollY >= SCROLLED;
    passes = false;
    if (!keep.size) { aim = null; say(""); return; }
    if ([...firm].some((of) => !come.has(of))) {  // what is below would move up under the pointer
      event.preventDefault();
      say("this list has changed: show");
      return;
    }
    let newer = 0, gone = 0;
    for (const [of, rows] of lists(live)) {
      if (!keep.has(of) || !come.has(of)) continue;
      const told = arrange(rows, come.get(of));
      newer += told.newer;
      gone += told.gone;
    }
    const parts = [newer && `${newer} newer`, gone && `${gone} gone`].filter(Boolean);
    say(parts.length ? `${parts.join(", ")}: show` : "");
  });
  document.addEventListener("qwf:fresh", () => {  // what came above the row has moved it
    const row = aim && document.getElementById(aim.id);
    if (row) scrollBy(0, row.getBoundingClientRect().top - aim.top);
    aim = null;
    if (scrolls) scrollTo({top: 0});
    scrolls = false;
  });
  pill.addEventListener("click", () => {
    passes = true;
    htmx.trigger(live, "refresh");
  });
})();
