// The load of a box as charts. The lines come as JSON; samples of the stream are added as they come.
(() => {
  "use strict";
  const place = document.querySelector("[data-charts]");
  if (!place || !window.uPlot) return;
  const GIB = 1024, HEIGHT = 150, QUIET_MS = 15000, AGAIN_MS = 60000;
  const span = Number(place.dataset.span), host = place.dataset.live;
  const figures = [...place.querySelectorAll("[data-chart]")];
  let load = {at: [], lines: {}}, charts = [], heard = 0;

  // --- how it looks: the colours are those of the legend, in the theme of the page
  const colour = (element) => getComputedStyle(element).color;
  const faint = (given) => given.replace(/^rgb\((.*)\)$/, "rgba($1, 0.2)");
  const clock = (at, step) => {
    const when = new Date(at * 1000), second = step < 60 ? "2-digit" : undefined;
    return span > 86400
      ? when.toLocaleDateString([], {month: "short", day: "numeric"})
      : when.toLocaleTimeString([], {hour: "2-digit", minute: "2-digit", second, hour12: false});
  };

  function draw(figure) {
    const unit = figure.dataset.unit, legend = figure.querySelector(".legend");
    const shown = [...figure.querySelectorAll("[data-line]")];
    const names = shown.map((line) => line.dataset.name ??= line.textContent.trim());
    const axis = {stroke: colour(legend), grid: {stroke: faint(colour(legend)), width: 1}, ticks: {show: false}};
    const chart = new uPlot({
      width: figure.clientWidth, height: HEIGHT,
      cursor: {sync: {key: "load"}, drag: {x: false, y: false}, y: false},
      legend: {show: false},
      scales: {
        x: {range: (_, low, high) => [Math.max(low, high - span), high]},
        y: {range: (_, low, high) => [0, unit === "%" ? 100 : Math.max(1, high * 1.1)]},
      },
      axes: [
        {...axis, space: 70, size: 30, values: (_, splits, axis, room, step) => splits.map((at) => clock(at, step))},
        {...axis, size: unit ? 56 : 44, values: (_, splits) => splits.map((value) => `${value} ${unit}`.trim())},
      ],
      series: [{}, ...shown.map((line, number) => ({
        stroke: colour(line.querySelector("i")), width: number ? 1.25 : 2, points: {show: false},
        fill: number ? undefined : faint(colour(line.querySelector("i"))),
      }))],
      hooks: {setCursor: [(one) => {  // the value under the cursor stands in the legend
        shown.forEach((line, number) => {
          const value = one.cursor.idx == null ? null : one.data[number + 1][one.cursor.idx];
          line.lastChild.textContent = value == null ? names[number] : `${names[number]} ${value.toFixed(1)} ${unit}`;
        });
      }]},
    }, data(shown), figure);
    chart.root.setAttribute("aria-hidden", "true");
    return {chart, figure, shown};
  }
  const data = (shown) => [load.at, ...shown.map((line) => load.lines[line.dataset.line] ?? [])];
  const show = () => {
    for (const one of charts) {
      const lines = data(one.shown);
      one.chart.setData(lines);
      one.figure.toggleAttribute("data-empty", lines.slice(1).flat().every((value) => value == null));
    }
  };
  function redraw() {
    for (const one of charts) one.chart.destroy();
    charts = figures.map(draw);
  }

  // --- what it shows
  async function fetchAll() {
    try {
      const answer = await fetch(place.dataset.charts, {headers: {Accept: "application/json"}});
      if (!answer.ok) return;
      load = await answer.json();
      show();
    } catch { /* the banner of the page says that there is no answer */ }
  }
  const sum = (cards, name) => {
    const values = cards.map((card) => card[name]).filter((value) => value != null);
    return values.length ? values.reduce((total, value) => total + value, 0) : null;
  };
  function point(sample) {  // the lines of one sample, as history.py makes them
    const uses = sample.gpus.map((card) => card.use_pct).filter((use) => use != null);
    const [used, total] = [sum(sample.gpus, "vram_used_mb"), sum(sample.gpus, "vram_total_mb")];
    return {
      cpu: sample.cpu_percent, cpu_ours: sample.cpu_ours_percent, ram: sample.ram_percent,
      ram_ours: sample.ram_total_mb && sample.ram_ours_used_mb != null
        ? 100 * sample.ram_ours_used_mb / sample.ram_total_mb : null,
      swap: sample.swap_used_mb == null ? null : sample.swap_used_mb / GIB,
      gpu: uses.length ? uses.reduce((a, b) => a + b, 0) / uses.length : null,
      gpu_max: uses.length ? Math.max(...uses) : null,
      vram: used == null ? null : used / GIB, vram_total: total == null ? null : total / GIB,
    };
  }
  document.addEventListener("qwf:sample", (event) => {
    if (host === undefined) return;
    const sample = JSON.parse(event.detail);
    if (sample.host !== host) return;
    const now = Date.now() / 1000, figures = point(sample);
    heard = Date.now();
    load.at.push(now);
    for (const [name, values] of Object.entries(load.lines)) values.push(figures[name] ?? null);
    while (load.at.length && load.at[0] < now - span) {
      load.at.shift();
      for (const values of Object.values(load.lines)) values.shift();
    }
    show();
  });

  redraw();
  fetchAll();
  setInterval(() => {  // without samples, ask; history of days changes slowly
    if (!document.hidden && (host === undefined || Date.now() - heard > QUIET_MS)) fetchAll();
  }, host === undefined ? AGAIN_MS : QUIET_MS);
  new ResizeObserver(() => {
    for (const one of charts)
      if (one.figure.clientWidth !== one.chart.width) one.chart.setSize({width: one.figure.clientWidth, height: HEIGHT});
  }).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  new MutationObserver(redraw).observe(document.documentElement, {attributeFilter: ["data-theme"]});
})();
