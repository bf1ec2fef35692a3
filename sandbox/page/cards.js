// The cards of the workers: what each does, its lease, its token, and the buttons that hurt it.
import { short } from './agent.js';
import { byId, make, say } from './dom.js';
import { sql } from './sql.js';

const WORDS = { starting: '◌ starts', asleep: '○ sleeps', working: '▶ works', frozen: '☾ zombie',
  crashed: '✗ crashed' };
const LOOKS = { starting: 'starting', asleep: 'idle', working: 'running', frozen: 'paused',
  crashed: 'failed' };

export function showWorkers(engine) {
  const cards = engine.agents.map((agent) => card(engine, agent));
  byId('workers').append(...cards.map(({ element }) => element));
  const redraw = () => cards.forEach((one) => one.update(engine.state));
  engine.addEventListener('state', redraw);
  engine.addEventListener('said', redraw);
}

function card(engine, agent) {
  const state = make('span', { class: 'state' });
  const doing = make('p', { class: 'doing' });
  const token = make('p', { class: 'small token' });
  const lease = bar(`lease of ${agent.host}`);
  const work = bar(`work of ${agent.host}`);
  const button = (name, act, title = '') =>
    make('button', { type: 'button', class: name, onclick: act, title });
  const crash = button('crash', () => (agent.state === 'crashed' ? agent.restart() : agent.crash()),
    'end the process, without a word to the database');
  const zombie = button('zombie', () => (agent.state === 'frozen' ? agent.thaw() : agent.freeze()),
    'cut it off from the database; its body works on');
  const slow = button('slow', () => toggleSlow(engine, agent), 'five times the work');
  const drain = button('drain', () => toggle(engine, agent));
  const element = make('article', { class: 'card worker', 'data-host': agent.host },
    make('h3', {}, agent.host, ' ', state), doing, token,
    make('dl', { class: 'meters' }, make('dt', {}, 'Lease'), make('dd', {}, lease.meter, lease.text),
      make('dt', {}, 'Work'), make('dd', {}, work.meter, work.text)),
    make('p', { class: 'harm' }, crash, zombie, slow, drain));

  function update(known) {
    const off = known.off.includes(agent.host);
    const held = known.jobs.find((job) => job.status === 'running' && job.host === agent.host);
    element.dataset.state = agent.state;
    element.classList.toggle('overtaken', agent.overtaken);
    say(state, WORDS[agent.state] + (off ? ', switched off' : ''));
    state.className = `state state-${LOOKS[agent.state]}`;
    say(doing, doingNow(agent, held, off));
    sayToken(token, agent);
    lease.set(held ? Math.max(0, held.lease_s) : 0, engine.pace.lease, held ? 's left' : '');
    const done = agent.job ? Math.min(1, agent.job.done / agent.need) : 0;
    work.set(done * 100, 100, agent.job ? '%' : '');
    lease.meter.classList.toggle('high', Boolean(held) && held.lease_s < engine.pace.lease / 3);
    drain.title = off ? 'switch on: take jobs again' : 'finish the job, take no new one';
    say(crash, agent.state === 'crashed' ? 'Start' : 'Crash');
    say(zombie, agent.state === 'frozen' ? 'Wake up' : 'Zombie');
    zombie.disabled = ['crashed', 'starting'].includes(agent.state);
    say(slow, 'Slow');
    slow.setAttribute('aria-pressed', agent.slow);
    say(drain, off ? 'On' : 'Drain');
  }
  update(engine.state);
  return { element, update };
}

function bar(name) {
  const meter = make('meter', { min: 0, 'aria-label': name });
  const text = make('span', { class: 'small' });
  return {
    meter, text,
    set(value, most, unit) {
      meter.max = most;
      meter.value = value;
      say(text, unit ? `${unit === '%' ? Math.round(value) : value.toFixed(1)} ${unit}` : '–');
    },
  };
}

function doingNow(agent, held, off) {
  const name = agent.job && `job ${agent.job.job_id} (${agent.job.node_id ?? agent.job.task})`;
  if (agent.state === 'crashed') return held
    ? `Dead. Job ${held.id} still counts as its own until the lease is over.` : 'Dead.';
  if (agent.overtaken) return `Cut off. Works at ${name}, but that belongs to somebody else now.`;
  if (agent.state === 'frozen') return name ? `Cut off. Works at ${name}, renews no lease.` : 'Cut off.';
  if (agent.job) return `Works at ${name}, attempt ${agent.job.attempt}.`;
  if (agent.state === 'starting') return 'Registers.';
  return off ? 'Switched off: takes no new job.' : 'No job. Waits for a NOTIFY.';
}

function sayToken(line, { job, overtaken }) {
  line.classList.toggle('invalid', overtaken);
  if (!job) say(line, 'no token');
  else say(line, `token ${short(job.token)}: ${overtaken ? 'no longer valid' : 'valid'}`);
}

function toggleSlow(engine, agent) {
  agent.slow = !agent.slow;
  engine.say(agent.host, agent.slow
    ? 'works five times slower now. It renews its lease, so it keeps its job' : 'works as usual');
}

function toggle(engine, agent) {
  const off = engine.state.off.includes(agent.host);
  return engine.call('you', off ? `switch ${agent.host} on`
    : `drain ${agent.host}: it finishes its job and takes no new one`,
  off ? sql`select qwf.worker_control(${agent.host}, 'cpu', 'on')`
    : sql`select qwf.worker_control(${agent.host}, 'cpu', 'off', 'drain')`);
}
