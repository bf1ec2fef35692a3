// Draws each <canvas class="cells" data-cells="URL" data-href="/address?element="> as one cell for
// each element of a map, 100 in a row, or fewer if the map is small. The URL answers {"cells": "ccrf...", "states": {"c":
// "completed", ...}} and is fetched again on the event `qwf:refresh`. An <output> behind the canvas
// names the cell under the pointer; without data-href a click only names it.
"use strict";
(() => {
  const COLUMNS = [[200, 20], [2000, 50], [Infinity, 100]];  // up to so many elements, in a row

  class Cells {
    constructor(canvas) {
      this.canvas = canvas;
      this.chosen = null;
      canvas.tabIndex = 0;
      canvas.setAttribute("role", "img");
      this.said = document.createElement("output");
      this.said.className = "cells-said";
      canvas.after(this.said);
      const at = ({ offsetX, offsetY }) => {
        const cell = canvas.clientWidth / this.columns;
        const column = Math.min(this.columns - 1, Math.floor(offsetX / cell));
        return Math.floor(offsetY / cell) * this.columns + column;
      };
      canvas.addEventListener("pointermove", (event) => this.choose(at(event)));
      canvas.addEventListener("pointerleave", () => this.choose(null));
      canvas.addEventListener("click", (event) => this.open(at(event)));
      canvas.addEventListener("keydown", (event) => this.pressed(event));
      canvas.addEventListener("qwf:refresh", () => this.load());
      new ResizeObserver(() => this.draw()).observe(canvas);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
      this.load();
    }

    async load() {
      try {
        const answer = await fetch(this.canvas.dataset.cells);
        if (!answer.ok) throw new Error(`the server said ${answer.status}`);
        ({ cells: this.cells, states: this.states } = await answer.json());
        this.draw();
      } catch (problem) {
        this.said.textContent = `The elements could not be loaded: ${problem.message}.`;
      }
    }

    get columns() {
      return COLUMNS.find(([most]) => (this.cells?.length ?? 0) <= most)[1];
    }

    draw() {
      if (!this.cells) return;
      const { canvas, cells, columns } = this;
      const size = Math.max(2, Math.floor((canvas.clientWidth * devicePixelRatio) / columns));
      canvas.width = columns * size;
      canvas.height = Math.max(1, Math.ceil(cells.length / columns)) * size;
      const pen = canvas.getContext("2d");
      const gap = size > 4 ? 1 : 0;
      const colours = this.colours();
      for (let place = 0; place < cells.length; place++) {
        pen.fillStyle = colours[cells[place]] ?? colours[""];
        const [x, y] = [(place % columns) * size, Math.floor(place / columns) * size];
        pen.fillRect(x, y, size - gap, size - gap);
      }
      const counts = {};
      for (const letter of cells) counts[letter] = (counts[letter] ?? 0) + 1;
      const said = ([letter, count]) => `${count} ${this.word(letter)}`;
      const parts = Object.entries(counts).map(said);
      canvas.setAttribute("aria-label", `${cells.length} elements: ${parts.join(", ")}`);
    }

    // A canvas knows neither custom properties nor light-dark(): an element works them out.
    colours() {
      const names = { "": "--line" };
      for (const [letter, state] of Object.entries(this.states)) names[letter] = `--state-${state}`;
      const loud = ["failed", "running", "awaiting_input"];
      const found = {};
      for (const [letter, name] of Object.entries(names)) {
        const share = loud.includes(this.states[letter]) ? 100 : 45;
        this.said.style.color = `color-mix(in srgb, var(${name}) ${share}%, var(--bg))`;
        found[letter] = getComputedStyle(this.said).color;
      }
      this.said.style.color = "";
      return found;
    }

    word(letter) {
      return (this.states[letter] ?? "not there").replace("_", " ");
    }

    choose(place) {
      const known = place !== null && place >= 0 && place < (this.cells?.length ?? 0);
      this.chosen = known ? place : null;
      const words = known ? `element ${place}: ${this.word(this.cells[place])}` : "";
      this.said.textContent = words;
    }

    open(place) {
      this.choose(place);
      const { href } = this.canvas.dataset;
      if (href && this.chosen !== null) location.assign(href + this.chosen);
    }

    pressed(event) {
      const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.columns, ArrowDown: this.columns };
      const move = moves[event.key];
      if (event.key === "Enter" && this.chosen !== null) this.open(this.chosen);
      else if (move && this.cells) {
        const last = this.cells.length - 1;
        this.choose(this.chosen === null ? 0 : Math.min(last, Math.max(0, this.chosen + move)));
        event.preventDefault();
      }
    }
  }

  const drawn = new WeakSet();
  function find() {
    for (const canvas of document.querySelectorAll("canvas.cells[data-cells]"))
      if (!drawn.has(canvas)) drawn.add(canvas) && new Cells(canvas);
  }
  new MutationObserver(find).observe(document.documentElement, { childList: true, subtree: true });
  find();
})();
