// Ctrl-K: go to a page, workflow, queue or box, or to where something is done. The names come from
// the server when the dialog opens; what is typed picks those that have all its words.
(() => {
  "use strict";
  const MOST = 12;
  const dialog = document.getElementById("palette"), box = dialog?.querySelector("input");
  const list = dialog?.querySelector("ul");
  if (!dialog) return;
  let known = [], shown = [], at = 0;

  const pages = [...document.querySelectorAll(".menu > a")]
    .map((link) => ({text: link.firstChild.textContent.trim(), kind: "page", href: link.href}));
  async function load() {
    try {
      const answer = await fetch(dialog.dataset.names, {headers: {Accept: "application/json"}});
      if (!answer.ok) return;
      const may = new Set(dialog.dataset.may.split(" "));
      known = (await answer.json()).names.filter((one) => !one.may || may.has(one.may));
      pick();
    } catch { /* the pages of the menu are there without it */ }
  }
  function pick() {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rank = (one) => one.text.toLowerCase().startsWith(words[0] ?? "") ? 0 : 1;
    shown = [...pages, ...known]
      .filter((one) => words.every((word) => `${one.text} ${one.kind}`.toLowerCase().includes(word)))
      .sort((a, b) => rank(a) - rank(b)).slice(0, MOST);
    if (words.length) shown.push({text: `Search for “${box.value.trim()}”`, kind: "search",
      href: `${dialog.dataset.search}?q=${encodeURIComponent(box.value.trim())}`});
    at = 0;
    draw();
  }
  function draw() {
    list.replaceChildren(...shown.map((one, place) => {
      const row = document.createElement("li"), kind = document.createElement("span");
      row.id = `palette-${place}`;
      row.setAttribute("role", "option");
      row.setAttribute("aria-selected", String(place === at));
      kind.className = "muted small";
      kind.textContent = one.kind;
      row.append(one.text, " ", kind);
      return row;
    }));
    if (shown.length) box.setAttribute("aria-activedescendant", `palette-${at}`);
    else box.removeAttribute("aria-activedescendant");
    list.children[at]?.scrollIntoView({block: "nearest"});
  }
  function open() {
    if (dialog.open) return;
    box.value = "";
    pick();
    dialog.showModal();
    load();
  }
  const go = (place) => { if (shown[place]) location.href = shown[place].href; };

  box.addEventListener("input", pick);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); go(at); return; }
    if (!["ArrowDown", "ArrowUp"].includes(event.key) || !shown.length) return;
    event.preventDefault();
    at = (at + (event.key === "ArrowDown" ? 1 : shown.length - 1)) % shown.length;
    draw();
  });
  list.addEventListener("click", (event) => {
    const row = event.target.closest("li");
    if (row) go([...list.children].indexOf(row));
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.addEventListener("click", (event) => { if (event.target.closest("[data-palette]")) open(); });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k" && !document.querySelector("dialog[open]")) {
      event.preventDefault();
      open();
    }
  });
})();
