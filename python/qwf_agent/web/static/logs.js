// Find in a log: lines without the text are hidden, and stay so when new ones come.
(() => {
  "use strict";
  function find() {
    for (const box of document.querySelectorAll(".find-in-log")) {
      box.hidden = false;
      const text = box.value.toLowerCase();
      for (const line of box.closest(".text-box").querySelectorAll(".lines > span"))
        line.hidden = Boolean(text) && !line.textContent.toLowerCase().includes(text);
    }
  }
  document.addEventListener("input", (event) => { if (event.target.matches(".find-in-log")) find(); });
  document.addEventListener("qwf:fresh", find);
  find();
})();
