// Drafts, number keys and list buttons of forms. Without it each form works through the server.
"use strict";
(() => {
  const KEPT_MS = 14 * 86400e3;
  // The same as in masking.py: a text under a name that has one of these words. No draft keeps it.
  const SECRET = (document.body.dataset.secret ?? "").split(",").filter(Boolean);
  const TYPING = "textarea, select, input:not([type=radio]):not([type=checkbox])";
  const RENAMED = ["name", "id", "for", "aria-describedby"];
  let unsaved = false;

  function draft(key, value) {  // reads it; with a value keeps it, with null deletes it
    try {
      if (value) localStorage.setItem(`qwf-draft:${key}`, JSON.stringify(value));
      else if (value === null) localStorage.removeItem(`qwf-draft:${key}`);
      const kept = JSON.parse(localStorage.getItem(`qwf-draft:${key}`));
      return kept?.at > Date.now() - KEPT_MS ? kept : null;
    } catch {
      return null;  // full, or switched off in a private window
    }
  }

  const isChoice = (one) => one.type === "radio" || one.type === "checkbox";
  const controls = (form) => [...form.querySelectorAll(
    ".form-body :is(input, textarea, select)")]
    .filter((one) => one.type === "number" || !SECRET.some((word) => one.name.toLowerCase().includes(word)));
  const elementsOf = (list) => [...list.querySelectorAll(":scope > [data-element]")];
  const placeOf = (element) => element.querySelector(":scope > input[type=hidden]").value;

  function save(form) {
    const entries = controls(form).filter((one) => !isChoice(one) || one.checked)
      .map((one) => [one.name, one.value]);
    unsaved = !draft(form.dataset.draft, { at: Date.now(), entries });
  }

  function rename(part, sign, place) {
    for (const element of part.querySelectorAll("*")) {
      const own = element.matches("button, [type=hidden]") ? [...RENAMED, "value"] : RENAMED;
      for (const name of own.filter((one) => element.hasAttribute(one))) {
        const text = element.getAttribute(name).replaceAll(`/${sign}`, `/${place}`);
        element.setAttribute(name, text === sign ? place : text);
      }
      if (element.content) rename(element.content, sign, place);
    }
  }

  function addElement(list, place) {
    const template = list.querySelector(":scope > template");
    const copy = template.content.cloneNode(true);
    rename(copy, template.dataset.place, place);
    template.before(copy);
    return elementsOf(list).at(-1);
  }

  function restore(form) {
    const kept = draft(form.dataset.draft);
    if (!kept || "filled" in form.dataset) return;  // the server shows what was sent
    const wanted = new Map();
    for (const [name, value] of kept.entries) wanted.set(name, [...wanted.get(name) ?? [], value]);
    const fill = (list) => {
      const values = wanted.get(`${list.id.slice(2)}/*`) ?? [];
      for (const one of elementsOf(list)) if (!values.includes(placeOf(one))) one.remove();
      const there = elementsOf(list).map(placeOf);
      for (const one of values) if (!there.includes(one)) addElement(list, one);
      list.querySelectorAll(".form-list").forEach(fill);
    };
    form.querySelectorAll(".form-list").forEach(fill);
    for (const one of controls(form).filter((found) => found.type !== "hidden")) {
      const values = wanted.get(one.name) ?? [];
      if (isChoice(one)) one.checked = values.includes(one.value);
      else if (values.length) one.value = values[0];
    }
    const note = Object.assign(document.createElement("p"), { className: "form-draft" });
    note.setAttribute("role", "status");
    const discard = Object.assign(document.createElement("button"),
      { type: "button", className: "form-button", textContent: "Discard the draft" });
    discard.addEventListener("click", () => {
      draft(form.dataset.draft, null);
      location.reload();
    });
    note.append(`Your draft of ${new Date(kept.at).toLocaleString()} is back. `, discard);
    form.prepend(note);
  }

  document.addEventListener("input", (event) => {
    const form = event.target.closest("form[data-draft]");
    if (form) save(form);
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[name='*add'], button[name='*remove']");
    if (!button) return;
    event.preventDefault();
    const list = button.closest(".form-list");
    if (button.name === "*add") {
      const place = Math.max(-1, ...elementsOf(list).map(placeOf).map(Number)) + 1;
      const added = addElement(list, String(place));
      added.querySelector("input:not([type=hidden]), textarea, select, button").focus();
    } else {
      button.closest("[data-element]").remove();
      list.querySelector(":scope > button").focus();
    }
    if (list.closest("form[data-draft]")) save(list.closest("form"));
  });
  document.addEventListener("keydown", (event) => {
    const off = document.documentElement.dataset.keys === "off" || event.target.closest(TYPING);
    if (off || event.ctrlKey || event.altKey || event.metaKey || !/^[1-9]$/.test(event.key)) return;
    const control = document.querySelector(`[data-number-key="${event.key}"]`);
    control?.focus();
    if (control && control.type !== "submit") control.click();  // a button still needs Enter
  });
  document.addEventListener("submit", () => { unsaved = false; });
  window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });

  for (const one of document.querySelectorAll("[data-draft-done]")) draft(one.dataset.draftDone, null);
  document.querySelectorAll("form[data-draft]").forEach(restore);
})();
