// A prompt like psql's. Its statements run in the one session that the workers use too.
import { byId, make } from './dom.js';

const META = {
  '\\df': `select p.proname as function, pg_get_function_identity_arguments(p.oid) as arguments,
  obj_description(p.oid) as meaning
from pg_proc p where p.pronamespace = 'qwf'::regnamespace order by 1;`,
  '\\dt': `select c.relname as name, obj_description(c.oid) as meaning
from pg_class c where c.relnamespace = 'qwf'::regnamespace and c.relkind in ('r', 'v') order by 1;`,
};
const MOST_ROWS = 200;

// Returns edit(text): puts a statement into the prompt.
export function showPrompt(engine) {
  const field = byId('sql');
  const earlier = [];
  let at = 0;
  const run = async () => {
    const text = field.value.trim();
    if (!text) return;
    if (earlier.at(-1) !== text) earlier.push(text);
    at = earlier.length;
    byId('result').replaceChildren(...await answer(engine, META[text] ?? text));
  };
  const recall = (by) => {
    at = Math.min(earlier.length, Math.max(0, at + by));
    field.value = earlier[at] ?? '';
  };
  field.value = 'select * from qwf.queue_overview;';
  byId('run-sql').addEventListener('click', run);
  field.addEventListener('keydown', (event) => {
    const ends = /(;|\\\w+)\s*$/.test(field.value) && !event.shiftKey;
    if (event.key === 'Enter' && (ends || event.ctrlKey || event.metaKey)) run();
    else if (event.key === 'ArrowUp' && !field.value.slice(0, field.selectionStart).includes('\n'))
      recall(-1);
    else if (event.key === 'ArrowDown' && !field.value.slice(field.selectionEnd).includes('\n'))
      recall(1);
    else return;
    event.preventDefault();
  });
  return (text) => {
    field.value = text;
    field.focus();
    field.scrollIntoView({ block: 'center' });
  };
}

async function answer(engine, text) {
  const { results, notices, error, rolledBack } = await engine.db.prompt(text);
  const shown = notices.map((notice) => make('p', { class: 'muted small' }, notice));
  if (error) {
    const lines = [`ERROR ${error.code ?? ''}: ${error.message}`, error.detail && `DETAIL: ${error.detail}`,
      error.hint && `HINT: ${error.hint}`];
    shown.push(make('pre', { class: 'code error', tabindex: 0 }, lines.filter(Boolean).join('\n')));
  } else shown.push(...results.map(table));
  engine.say('you', `run SQL at the prompt${error ? `: ${error.message}` : ''}`,
    { sql: text, bad: Boolean(error), changed: true });
  if (rolledBack) shown.push(make('p', { class: 'warn' },
    'Your transaction was rolled back: the workers use the same session, so none can stay open.'));
  return shown;
}

function table({ rows, columns, affectedRows }) {
  if (columns.length === 0)
    return make('p', { class: 'muted small' }, affectedRows ? `${affectedRows} rows changed` : 'done');
  const cell = (value) => (value === null ? '' : value instanceof Date ? value.toISOString()
    : typeof value === 'object' ? JSON.stringify(value) : String(value));
  const head = make('tr', {}, ...columns.map((name) => make('th', {}, name)));
  const body = rows.slice(0, MOST_ROWS).map((row) =>
    make('tr', {}, ...columns.map((name) => make('td', {}, cell(row[name])))));
  const more = rows.length > MOST_ROWS ? `, the first ${MOST_ROWS} are shown` : '';
  return make('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'result' },
    make('table', {}, make('thead', {}, head), make('tbody', {}, ...body)),
    make('p', { class: 'muted small' }, `${rows.length} row${rows.length === 1 ? '' : 's'}${more}`));
}
