// Opens the database, then connects the parts of the page to it.
import { showWorkers } from './cards.js';
import { database } from './database.js';
import { byId, make, say } from './dom.js';
import { count, Engine, PACES } from './engine.js';
import { showRun } from './graph.js';
import { showJobs } from './jobs.js';
import { showLog } from './log.js';
import { PRESETS } from './presets.js';
import { showPrompt } from './prompt.js';
import { showTour } from './tour.js';

const SILENT_MS = 4000;

const startOf = (engine) => (id) => {
  const { words, sql } = PRESETS.find((preset) => preset.id === id);
  return engine.call('you', words, sql, 'started');
};

function showPresets(start) {
  byId('presets').append(...PRESETS.map(({ id, label, help }) => make('button', { type: 'button',
    id: `preset-${id}`, title: help, onclick: () => {
      say(byId('preset-help'), help);
      start(id);
    } }, label)));
}

function showLamp(engine) {
  const lamp = byId('lamp');
  engine.addEventListener('checked', ({ detail: wrong }) => {
    lamp.dataset.state = wrong.length ? 'bad' : 'good';
    lamp.role = wrong.length ? 'alert' : null; // else a screen reader would read each check
    say(lamp, wrong.length ? `✗ broken: ${wrong.map((rule) => rule.invariant).join(', ')}`
      : `● no rule broken in ${count(engine.checks, 'check')}`);
    lamp.title = 'select * from qwf.check_invariants(), after every event';
  });
  setInterval(() => {
    const silent = performance.now() - engine.lookedAt;
    if (silent < SILENT_MS) return;
    lamp.dataset.state = 'busy';
    say(lamp, `○ no answer for ${Math.round(silent / 1000)} s: a statement runs, or Start over`);
  }, 1000);
}

async function main() {
  const boot = byId('boot');
  database.onPhase = (phase) => say(boot, `${phase} …`);
  database.onPhase(database.phase);
  try {
    await database.opened;
  } catch (error) {
    boot.classList.add('bad');
    say(boot, `The database could not be opened: ${error.message}. Reload the page; it needs a current `
      + 'browser with WebAssembly, and a web server (not a file).');
    return;
  }
  const engine = new Engine(database);
  const start = startOf(engine);
  showLog(engine, showPrompt(engine));
  showWorkers(engine);
  showRun(engine, showJobs(engine));
  showPresets(start);
  showLamp(engine);
  showTour(engine, start);
  byId('cheat').addEventListener('click', () => engine.cheat());
  byId('pace').addEventListener('change', ({ target }) => { engine.pace = PACES[target.value]; });
  byId('again').addEventListener('click', () => location.reload());
  boot.hidden = true;
  byId('ready').hidden = false;
  document.documentElement.dataset.openedMs = Math.round(performance.now());
  engine.live();
}

main();
