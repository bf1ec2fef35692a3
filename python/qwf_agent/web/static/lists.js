// Lists: the search box suggests the word that is being typed, one box ticks all rows of the page,
// and Shift ticks all rows between two.
(() => {
  "use strict";
  const box = document.getElementById("query"), words = document.getElementById("words");
  if (box && words) {
    const known = [...words.options].map((option) => option.value);
    box.addEventListener("input", () => {
      const at = box.value.search(/\S*$/), head = box.value.slice(0, at), word = box.value.slice(at);
      words.replaceChildren(...known.filter((one) => one.startsWith(word) && one !== word).slice(0, 50)
        .map((one) => new Option("", head + one)));
    });
  }
  let last = null;  // the row that was ticked last
  const ticks = () => [...document.querySelectorAll('[data-row] input[type="checkbox"]')];
  const reveal = () => document.querySelector("[data-tick-all]")?.removeAttribute("hidden");
  document.addEventListener("click", (event) => {
    const tick = event.target;
    if (tick.matches?.("[data-tick-all]")) for (const one of ticks()) one.checked = tick.checked;
    if (!tick.matches?.('[data-row] input[type="checkbox"]')) return;
    const all = ticks(), from = all.findIndex((one) => one.id === last), to = all.indexOf(tick);
    if (event.shiftKey && from >= 0)
      for (const one of all.slice(Math.min(from, to), Math.max(from, to) + 1)) one.checked = tick.checked;
    last = tick.id;
  });
  document.addEventListener("qwf:fresh", reveal);
  reveal();
})();
