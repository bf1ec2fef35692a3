// What happened, the newest first, with the SQL that ran.
import { byId, make } from './dom.js';

const MOST = 150;

export function showLog(engine, edit) {
  const list = byId('log');
  const began = performance.now();
  engine.addEventListener('said', ({ detail: entry }) => {
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    list.prepend(line(entry, seconds, edit));
    while (list.children.length > MOST) list.lastChild.remove();
  });
}

function line({ who, words, sql, kind, bad }, seconds, edit) {
  const parts = [make('span', { class: 'muted small' }, `${seconds} s`), ' ',
    make('b', {}, who), ` ${words}`];
  if (sql) {
    const button = make('button', { type: 'button', class: 'edit', onclick: () => edit(sql) },
      'Edit and run');
    const shown = make('details', {}, make('summary', {}, 'SQL'),
      make('pre', { class: 'code' }, sql), button);
    shown.open = who === 'you' && sql.length < 160;
    parts.push(shown);
  }
  const item = make('li', { class: bad ? 'bad' : '' }, ...parts);
  if (kind) item.dataset.kind = kind;
  return item;
}
