// Lists: the search box suggests the word that is being typed, one box ticks all rows of the page,
// and Shift ticks all rows between two. The bar at the foot says how many are ticked.
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
  const TICK = '[data-row] .tick input[type="checkbox"]';
  const ticks = () => [...document.querySelectorAll(TICK)];
  // The box above all rows is ticked if every row is, and the list says how many are.
  function told() {
    const all = ticks(), count = all.filter((one) => one.checked).length;
    const every = document.querySelector("[data-tick-all]"), said = document.querySelector("[data-ticked]");
    if (every) {
      every.hidden = false;
      every.checked = count > 0 && count === all.length;
      every.indeterminate = count > 0 && count < all.length;
    }
    if (said) said.textContent = count ? `${count} selected${every?.checked ? ", all of this page" : ""}` : "Selected";
  }
  document.addEventListener("click", (event) => {
    const tick = event.target;
    if (tick.matches?.("[data-tick-all]")) for (const one of ticks()) one.checked = tick.checked;
    if (!tick.matches?.(TICK)) return;
    const all = ticks(), from = all.findIndex((one) => one.id === last), to = all.indexOf(tick);
    if (event.shiftKey && from >= 0)
      for (const one of all.slice(Math.min(from, to), Math.max(from, to) + 1)) one.checked = tick.checked;
    last = tick.id;
  });
  document.addEventListener("change", told);
  document.addEventListener("reset", () => setTimeout(told, 0));
  document.addEventListener("qwf:fresh", told);
  told();
})();
