// A qwf worker in Node:  node worker.mjs QUEUE [SLOTS]
// Needs: npm install pg. The PG* variables say where the database is. If they lead through a transaction
// pooler, QWF_LISTEN_DSN is an address without one, for LISTEN.
// Left out: numbers beyond 2^53 are rounded (docs/clients.md has the line that keeps them).
import { once } from 'node:events';
import os from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

// The bodies it can run: task name -> async function of the inputs, which returns the output object.
// A body must be safe to run twice, stop when `signal` aborts, and not block the event loop. What it
// passes to `log` is the log of its job.
class TemporaryError extends Error {}
class PermanentError extends Error {}
const bodies = {
  hello: async ({ who }) => ({ text: `hello ${who}` }),
  shout: async ({ text }, { signal, progress, log }) => {
    log(`shouting ${text.length} letters`);
    await progress(0.5, 'halfway');
    signal.throwIfAborted();
    return { text: text.toUpperCase() };
  },
};

const [queue, slots = 4] = process.argv.slice(2);
const pool = new pg.Pool({ max: 4, connectionTimeoutMillis: 10_000, query_timeout: 60_000 });
pool.on('error', () => {}); // an idle connection was closed: the next call opens another
const held = new Map(); // token -> AbortController of a job to renew and report
const logs = new Map(); // token -> what its body has printed
let busy = 0; // slots with a body that has not ended
let stopping = false;

const ask = async (text, ...values) => (await pool.query(text, values)).rows;
// Commits without waiting for the disk: if a crash loses a claim or a heartbeat, the lease just lapses.
const noWait = "set_config('synchronous_commit', 'off', true)";
const warn = (error) => console.error(error.message, error.detail ?? '', error.hint ?? '');
// The classes of errors that say that a report cannot be stored: docs/errors.md.
const isFinal = (error) => error instanceof TypeError || /^(22|23|54|QW)/.test(error.code ?? '');
const jitter = (seconds) => seconds * (750 + 500 * Math.random());

class Bell {
  #rung = false;
  #wake = () => {};
  ring() {
    this.#rung = true;
    this.#wake();
  }
  async wait(ms) { // until it rings, at most `ms`; returns at once if it rang before
    const timer = setTimeout(() => this.#wake(), ms);
    if (!this.#rung) await new Promise((wake) => { this.#wake = wake; });
    clearTimeout(timer);
    this.#rung = false;
  }
}
const news = new Bell(); // there may be work, or a free slot
const alarm = new Bell(); // one of our jobs was cancelled
const followers = new Bell(); // somebody follows the log of one of our jobs

class Log { // the end of what a body has printed, and how much it was
  printed = 0;
  #end = Buffer.alloc(0);
  constructor(job) {
    this.job = job;
  }
  add(text, limit) {
    const more = Buffer.from(`${text}\n`.replaceAll('\0', ''));
    this.printed += more.length;
    this.#end = Buffer.concat([this.#end, more]).subarray(-limit);
  }
  tail = () => this.#end.toString(); // half a letter at its begin becomes U+FFFD
}

async function work(worker, settings) {
  let rechecks = [];
  let asleepSince = null;
  while (!stopping) {
    const free = slots - busy;
    let jobs = [];
    try {
      if (free > 0) jobs = await ask(
        `select c.job_id, c.token, c.task, c.inputs, c.attempt, c.checkpoint,
           extract(epoch from c.timeout)::float as timeout
         from ${noWait}, qwf.claim($1, $2, $3) c`, queue, worker, free);
      for (const job of jobs) run(job, settings);
      if (jobs.length > 0 || free <= 0) {
        if (asleepSince) await ask(`select from ${noWait}, qwf.wake($1)`, worker); // notify others instead
        asleepSince = null;
      } else if (!asleepSince || Date.now() > asleepSince + 5000) { // the database forgets a sleeper after 15 s
        await ask(`select from ${noWait}, qwf.sleep($1, $2)`, worker, queue);
        if (!asleepSince) rechecks = [0, 5, 25, 100]; // work that came just before woke nobody
        asleepSince = Date.now();
      }
    } catch (error) {
      warn(error);
    }
    if (jobs.length === 0) await news.wait(rechecks.shift() ?? jitter(settings.poll));
  }
}

async function run(job, settings) {
  busy += 1;
  const stop = new AbortController();
  held.set(job.token, stop);
  logs.set(job.token, new Log(job.job_id));
  const clock = setTimeout(() => stop.abort('timeout'), Math.min(job.timeout * 1000, 2 ** 31 - 1));
  await report(job, await attempt(job, stop.signal, settings));
  clearTimeout(clock);
  held.delete(job.token);
  logs.delete(job.token);
  await job.body?.catch(() => {}); // nothing can kill a promise: one that did not stop keeps its slot
  busy -= 1;
  news.ring();
}

async function attempt(job, signal, settings) {
  const progress = async (fraction, message) => {
    const [{ verdict }] = await ask(
      'select qwf.progress($1, $2, $3, $4) as verdict', job.job_id, job.token, fraction, message);
    applyVerdict(job.token, verdict);
  };
  const save = async (checkpoint) => { // the next attempt gets it as job.checkpoint
    const [{ verdict }] = await ask('select qwf.progress($1, $2, checkpoint => $3::text::jsonb) as verdict',
      job.job_id, job.token, JSON.stringify(checkpoint));
    applyVerdict(job.token, verdict);
  };
  const printed = logs.get(job.token);
  const log = (text) => printed.add(text, settings.max_log_bytes);
  const overdue = new Promise((_, fail) => {
    signal.onabort = () => setTimeout(fail, settings.cancel_grace * 1000, new Error('it did not stop'));
  });
  try {
    if (!Object.hasOwn(bodies, job.task)) return { outcome: 'fatal', error: 'this worker has no such task' };
    job.body = Promise.resolve(bodies[job.task](job.inputs, { job, signal, progress, save, log }));
    return { outcome: 'completed', output: (await Promise.race([job.body, overdue])) ?? {} };
  } catch (error) {
    const text = String(error?.stack ?? error).replaceAll('\0', '');
    switch (signal.reason) {
      case 'cancel': return { outcome: 'cancelled', error: text };
      case 'timeout': return { outcome: 'lost', error: `still running after ${job.timeout} s`, detail: { reason: 'timeout' } };
      case 'stop': return { outcome: 'released' };
    }
    const outcome = error instanceof TemporaryError ? 'tempfail' : error instanceof PermanentError ? 'fatal' : 'error';
    return { outcome, error: text };
  }
}

async function report(job, { detail, ...result }) {
  while (held.get(job.token).signal.reason !== 'lost') {
    try {
      const [{ pending }] = await ask('select * from qwf.finish_many($1::text::jsonb)',
        JSON.stringify([{ job_id: job.job_id, token: job.token, ...result,
          detail: { ...detail, log_tail: logs.get(job.token).tail() } }]));
      if (pending) await ask('select qwf.drain_outbox()');
      return; // ok, or lost: another worker has the job, and this attempt does not count
    } catch (error) {
      warn(error);
      if (!isFinal(error)) await pause(1000); // such as no database: repeat it until it is answered
      else if (result.outcome === 'fatal') return; // the lease lapses, and the job runs again
      else result = { outcome: 'fatal', error: `the report cannot be stored: ${error.message}` };
    }
  }
}

function applyVerdict(token, verdict) {
  if (verdict !== 'ok') held.get(token)?.abort(verdict); // cancel, or lost
}

async function beat(worker, settings) {
  while (!stopping || held.size > 0) {
    await alarm.wait(1000 * Math.min(settings.heartbeat, settings.lease / 3));
    try {
      for (const { token, verdict } of await ask(
        `select h.* from ${noWait}, qwf.heartbeat($1, $2) h`, worker, [...held.keys()])) applyVerdict(token, verdict);
    } catch (error) {
      warn(error);
    }
  }
}

async function sendLogs(worker) { // about once a second, for as long as somebody follows
  for (;;) {
    await followers.wait(2 ** 31 - 1);
    for (let followed = true; followed; await pause(1000)) {
      followed = false;
      try {
        for (const { job_id } of await ask('select j as job_id from qwf.followed_logs($1) j', worker)) {
          const [token, log] = [...logs].find(([, one]) => one.job === job_id) ?? [];
          if (!log) continue;
          const [{ more }] = await ask('select qwf.report_log($1, $2, $3, $4) as more',
            job_id, token, log.printed, log.tail());
          followed ||= more;
        }
      } catch (error) {
        warn(error);
      }
    }
  }
}

async function tick(settings) {
  for (;;) {
    await pause(jitter(settings.tick));
    await ask("select qwf.tick('0.7 s')").catch(warn);
  }
}

async function listen(worker, channel) { // on its own connection, reopened when it ends
  const address = { connectionString: process.env.QWF_LISTEN_DSN, keepAlive: true, connectionTimeoutMillis: 10_000 };
  for (let unheard = null; ;) {
    const client = new pg.Client(address);
    client.on('error', warn);
    client.on('notification', ({ payload }) => {
      if (payload === 'echo') clearTimeout(unheard);
      else ({ cancel: alarm, log: followers }[payload] ?? news).ring();
    });
    try {
      await client.connect();
      await client.query(`listen "${channel}"`);
      news.ring();
      if (!unheard) { // once: a pooler takes a LISTEN without a word, and loses it
        unheard = setTimeout(() => console.error('no notification arrives, so jobs start up to a second late:'
          + ' set QWF_LISTEN_DSN to an address without a transaction pooler'), 5000);
        await ask('select qwf.echo($1)', worker);
      }
      await once(client, 'end');
    } catch {
      client.end().catch(() => {});
    }
    await pause(1000);
  }
}

const [{ settings }] = await ask('select qwf.agent_settings($1) as settings', queue);
const [{ worker, channel }] = await ask(
  'select w as worker, qwf.wake_channel(w) as channel from qwf.register_worker($1, $2, $3::text::jsonb) w',
  os.hostname(), queue, JSON.stringify({ pid: process.pid, slots: Number(slots), tasks: Object.keys(bodies) }));

const giveBack = () => held.forEach((stop) => stop.abort('stop'));
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => {
  if (stopping) giveBack(); // the first signal lets bodies finish, the second releases their jobs
  stopping = true;
  news.ring();
});
listen(worker, channel);
sendLogs(worker);
const beating = beat(worker, settings);
tick(settings);
await work(worker, settings);

setTimeout(giveBack, settings.stop_grace * 1000);
const last = Date.now() + (settings.stop_grace + settings.cancel_grace + 10) * 1000;
while (held.size > 0 && Date.now() < last) await news.wait(1000);
alarm.ring();
await Promise.race([beating, pause(1000)]); // a heartbeat after deregistering would undo it
await ask('select qwf.deregister_worker($1)', worker).catch(warn); // releases the jobs still held
process.exit();
