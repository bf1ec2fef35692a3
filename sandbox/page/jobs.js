// The list of jobs, the questions to the reader, and the one job that is explained.
import { short } from './agent.js';
import { byId, keep, make, say } from './dom.js';
import { sql } from './sql.js';

const SIGNS = { queued: '○', running: '▶', completed: '✓', failed: '✗', cancelled: '−', blocked: '·',
  scheduled: '◷', skipped: '↷', awaiting_input: '?' };

export function showJobs(engine) {
  const choose = (id) => explain(engine, Number(id));
  engine.addEventListener('state', ({ detail: state }) => {
    byId('no-jobs').hidden = state.jobs.length > 0;
    keep(byId('jobs'), state.jobs, ({ id }) => id, (job) => row(job, choose), update);
    keep(byId('questions'), state.questions, ({ job_id: id }) => id, (one) => question(engine, one),
      () => {});
    byId('schedules').hidden = state.schedules.length === 0;
    keep(byId('schedules'), state.schedules, (name) => name, (name) => schedule(engine, name),
      () => {});
  });
  return choose;
}

function row({ id }, choose) {
  const cells = ['state', 'held', 'token', 'lease', 'tries'].map((name) =>
    make('td', { class: name, 'data-label': name }));
  const why = make('button', { type: 'button', class: 'why-button', onclick: () => choose(id),
    'aria-label': `Why is job ${id} where it is?` }, 'Why?');
  return make('tr', {}, make('th', { scope: 'row' }), ...cells, make('td', {}, why));
}

function update(line, job) {
  const [name, state, held, token, lease, tries] = line.children;
  say(name, `${job.id} ${(job.node_id ?? job.task).split('/').at(-1)}`);
  const text = `${SIGNS[job.status]} ${job.status.replace('_', ' ')}`;
  if (state.textContent !== text)
    state.replaceChildren(make('span', { class: `state state-${job.status}` }, text));
  const runs = job.status === 'running';
  say(held, runs ? job.host : '');
  say(token, runs ? short(job.token) : '');
  say(lease, runs ? `${Math.max(0, job.lease_s).toFixed(1)} s` : '');
  say(tries, [job.attempt && `${job.attempt}`, job.losses && `${job.losses} lost`,
    job.failures && `${job.failures} failed`].filter(Boolean).join(', '));
}

function question(engine, { job_id: job, run_id: run, node_id: node, prompt, spec }) {
  const answer = (value) => engine.call('you', `answer the question: ${told(value)}`,
    run ? sql`select qwf.submit_input(${run}, ${node}, ${JSON.stringify(value)})`
      : sql`select qwf.answer_job(${job}, ${JSON.stringify(value)})`, 'answered');
  return make('article', { class: 'card ask question' }, make('h3', {}, 'A question to you'),
    make('p', {}, typeof prompt === 'string' ? prompt : JSON.stringify(prompt)),
    make('p', { class: 'buttons' }, ...options(spec).map((value) =>
      make('button', { type: 'button', class: 'answer', onclick: () => answer(value) }, told(value)))));
}

const told = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

function options({ widget, options: given, source }) {
  if (widget === 'confirm') return [true, false];
  return [given, source].find(Array.isArray) ?? [];
}

function schedule(engine, name) {
  const drop = () => engine.call('you', `drop the schedule ${name}`,
    sql`select qwf.drop_schedule(${name})`);
  return make('button', { type: 'button', onclick: drop }, `Drop the schedule ${name}`);
}

// Reads why a job is where it is, and offers to run it again.
async function explain(engine, id) {
  const panel = byId('chosen');
  const ask = sql`select qwf.why_not(${id}) as line`;
  const known = engine.state.jobs.find((job) => job.id === id);
  const lines = await engine.call('you', `ask why job ${id} is where it is`, ask,
    known?.status === 'queued' ? 'explained' : 'asked');
  if (lines.length === 0) return;
  const facts = sql`select coalesce(node_id, task) as name, run_id, node_id, inputs, resolved_inputs,
  output, last_error, parent_id from qwf.jobs where id = ${id}`;
  const [job] = await engine.db.rows(facts).catch(() => []);
  if (!job) return;
  panel.hidden = false;
  panel.replaceChildren(make('h3', {}, `Job ${id}: ${job.name}`),
    make('ul', { class: 'lines' }, ...lines.map(({ line }) => make('li', {}, line))),
    ...values(job), make('p', { class: 'buttons' }, again(engine, id, job), cancel(engine, id),
      make('button', { type: 'button', onclick: () => { panel.hidden = true; } }, 'Close')));
  panel.scrollIntoView({ block: 'nearest' });
}

function values({ inputs, resolved_inputs: resolved, output }) {
  const shown = { Inputs: resolved ?? inputs, Output: output };
  return Object.entries(shown).filter(([, value]) => value && Object.keys(value).length)
    .map(([name, value]) => make('p', { class: 'small' }, `${name}: `,
      make('code', {}, JSON.stringify(value))));
}

function again(engine, id, { run_id: run, node_id: node, parent_id: parent }) {
  const [words, text] = run && !parent
    ? [`run ${run} again from ${node}`, sql`select qwf.retry_run(${run}, ${node})`]
    : [`run job ${id} again`, sql`select qwf.retry_job(${id})`];
  const act = () => engine.call('you', words, text, run ? 'retried' : null);
  return make('button', { type: 'button', class: 'retry', onclick: act },
    run && !parent ? 'Retry the run from here' : 'Retry');
}

function cancel(engine, id) {
  const act = () => engine.call('you', `cancel job ${id}`, sql`select qwf.cancel_job(${id})`);
  return make('button', { type: 'button', class: 'danger', onclick: act }, 'Cancel');
}
