// On the page after a form that may not have arrived: says when the database answers again.
(() => {
  "use strict";
  const ASK_MS = 2000;
  const said = document.getElementById("outage");
  async function ask() {
    const answer = await fetch(said.dataset.ready, {cache: "no-store"}).catch(() => null);
    if (answer?.ok) said.textContent = "The database answers again. Send it now.";
    else setTimeout(ask, ASK_MS);
  }
  ask();
})();
