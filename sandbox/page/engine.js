// Moves the workers, calls tick(), reads the state, and checks the invariants after every event.
import { Agent } from './agent.js';
import { outputOf } from './bodies.js';
import { sql } from './sql.js';

const STEP_MS = 80;
const LOOK_MS = 200;
const TICK_MS = 500;
const COMPLAIN_MS = 10_000; // between two lines about a broken database
const SOME_TOKEN = '00000000-0000-4000-8000-000000000000';
export const PACES = { // milliseconds of a usual body, seconds of a lease
  calm: { body: 8000, lease: 10 }, normal: { body: 4000, lease: 5 }, quick: { body: 1500, lease: 3 },
};

const STATE = `select jsonb_build_object(
  'jobs', (select coalesce(jsonb_agg(to_jsonb(j) order by j.id), '[]') from (
    select id, run_id, node_id, task, status, attempt, losses, failures, token, last_error,
      split_part(claimed_by, ':', 1) as host,
      extract(epoch from lease_expires_at - qwf.now())::float as lease_s
    from qwf.jobs
    order by status in ('running', 'queued', 'scheduled', 'awaiting_input') desc, id desc
    limit 12) j),
  'runs', (select coalesce(jsonb_agg(to_jsonb(r) order by r.id desc), '[]') from (
    select id, workflow, status from qwf.runs order by id desc limit 8) r),
  'queued', (select count(*) from qwf.jobs where status = 'queued'),
  'off', (select coalesce(jsonb_agg(host_label), '[]') from qwf.worker_controls
    where desired_state = 'off'),
  'questions', (select coalesce(jsonb_agg(to_jsonb(q) order by q.job_id), '[]') from (
    select job_id, run_id, node_id, prompt, spec from qwf.pending_inputs limit 3) q),
  'schedules', (select coalesce(jsonb_agg(name), '[]') from qwf.schedules)) as state`;

// Events: `said` (detail: an entry of the log), `state`, `checked` (detail: broken rules).
export class Engine extends EventTarget {
  pace = PACES.calm;
  state = { jobs: [], runs: [], queued: 0, off: [], questions: [], schedules: [] };
  checks = 0;
  lookedAt = performance.now();
  #tokens = []; // of claims that workers have lost, or may have
  #changed = true;
  #complained = -COMPLAIN_MS;

  constructor(db) {
    super();
    this.db = db;
    this.agents = ['box-a', 'box-b', 'box-c'].map((host) => new Agent(this, host));
    this.output = outputOf;
  }

  // Adds a line to the log. kind: what the tour waits for.
  say(who, words, { sql: text = null, kind = null, bad = false, changed = false } = {}) {
    this.#changed ||= changed;
    this.#tell('said', { who, words, sql: text, kind, bad });
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  // Runs SQL and says so. `words` and `kind` may be functions of the rows. A refusal is said, and
  // gives no rows.
  async call(who, words, text, kind = null) {
    const of = (what, rows) => (typeof what === 'function' ? what(rows) : what);
    try {
      const rows = await this.db.rows(text);
      const found = of(kind, rows);
      this.say(who, of(words, rows),
        { sql: text, kind: found, bad: found === 'refused', changed: true });
      return rows;
    } catch (error) {
      const more = [error.code, error.message, error.detail, error.hint].filter(Boolean);
      this.say(who, `is refused: ${more.join(' · ')}`, { sql: text, bad: true, changed: true });
      return [];
    }
  }

  // Keeps a token, for people who try to cheat with it.
  remember({ job_id, token }) {
    this.#tokens.unshift({ job_id, token });
    this.#tokens.length = Math.min(this.#tokens.length, 20);
  }

  // Replays a token that is no longer valid: a thief's, or an old worker's.
  async cheat() {
    const current = new Set(this.state.jobs.map(({ token }) => token));
    const old = this.#tokens.find(({ token }) => !current.has(token));
    const job = old?.job_id ?? this.state.jobs.at(-1)?.id;
    if (!job) return this.say('you', 'There is no job to cheat with yet. Start an example first.');
    const told = ([{ verdict }]) => `try to report job ${job} with ${old ? 'an old' : 'a made-up'} `
      + `token: the answer is "${verdict}". Nothing changed`;
    return this.call('you', told, sql`select qwf.finish(${job}, ${old?.token ?? SOME_TOKEN}, `
      + sql`'completed', ${{ by: 'a cheat' }}) as verdict`, 'refused');
  }

  async live() {
    let before = performance.now();
    let look = 0;
    let tick = 0;
    for (;;) {
      const now = performance.now();
      for (const agent of this.agents) await this.#careful(() => agent.step(now - before));
      before = now;
      if (now >= tick) {
        tick = now + TICK_MS;
        await this.#careful(() => this.#tick());
      }
      if (now >= look || this.#changed) {
        look = now + LOOK_MS;
        await this.#careful(() => this.#look());
      }
      await new Promise((resume) => { setTimeout(resume, STEP_MS); });
    }
  }

  // A reader may change the database as he likes, for example drop a table: the page says so and
  // goes on.
  async #careful(act) {
    try {
      await act();
    } catch (error) {
      const now = performance.now();
      if (now - this.#complained < COMPLAIN_MS) return;
      this.#complained = now;
      this.say('page', `got an error: ${error.message}. To begin again, press Start over`,
        { bad: true });
    }
  }

  async #tick() {
    const [{ done }] = await this.db.rows('select qwf.tick() as done');
    if (done.reclaimed) this.say('database', `takes back ${count(done.reclaimed, 'job')}: the lease `
      + 'is over and nobody renewed it. The old token is no longer valid',
    { sql: 'select qwf.tick()', kind: 'reclaimed', changed: true });
    if (done.fired) this.say('database', 'fires a schedule', { sql: 'select qwf.tick()', changed: true });
  }

  async #look() {
    const [{ state }] = await this.db.rows(STATE);
    this.state = state;
    for (const agent of this.agents) this.#notice(agent);
    this.lookedAt = performance.now();
    this.#tell('state', state);
    if (!this.#changed) return;
    this.#changed = false;
    const wrong = await this.db.rows('select * from qwf.check_invariants()');
    this.checks += 1;
    this.#tell('checked', wrong);
  }

  // Has a zombie lost its job by now?
  #notice(agent) {
    if (agent.state !== 'frozen' || !agent.job || agent.overtaken) return;
    const job = this.state.jobs.find(({ id }) => id === agent.job.job_id);
    if (!job || job.token === agent.job.token) return;
    agent.overtaken = true;
    this.say('page', `${agent.host} is a zombie now: it works at job ${job.id}, `
      + 'which is no longer its own', { kind: 'overtaken' });
  }
}

export const count = (number, noun) => `${number} ${noun}${number === 1 ? '' : 's'}`;
