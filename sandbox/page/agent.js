// A worker as any client could write it: it calls functions of qwf and waits. It decides nothing.
// The page can crash it, freeze it (then it is a zombie) and slow it down.
import { sql } from './sql.js';
import { bodyOf, FAILS, KILLS } from './bodies.js';

const LOOK_MS = 2000; // how often an idle worker looks by itself, if nobody wakes it
const DOWN_MS = 10_000; // a crashed box starts again after this time
const SLOW = 5; // a slow body takes so many times as long

export const short = (token) => `…${token.slice(-4)}`;

export class Agent {
  state = 'starting'; // starting, asleep, working, frozen, crashed
  slow = false;
  job = null; // what claim() gave, with the milliseconds done
  overtaken = false; // frozen, and its job belongs to somebody else now
  #rest = 0; // milliseconds until it looks again, or starts again
  #beat = 0; // milliseconds until the next heartbeat

  constructor(engine, host) {
    this.engine = engine;
    this.host = host;
  }

  get need() { // milliseconds its job takes
    return bodyOf(this.job.task) * this.engine.pace.body * (this.slow ? SLOW : 1);
  }

  // What passed in `ms` milliseconds.
  async step(ms) {
    this.#rest -= ms;
    this.#beat -= ms;
    if (this.job && this.state !== 'crashed') this.job.done += ms;
    if (this.state === 'starting') await this.#start();
    else if (this.state === 'asleep' && this.#rest <= 0) await this.#claim();
    else if (this.state === 'working') await this.#work();
    else if (this.state === 'crashed' && this.#rest <= 0) this.restart();
  }

  async #start() {
    const [row] = await this.engine.call(this.host, 'starts and registers',
      sql`select qwf.register_worker(${this.host}, 'cpu') as id`);
    if (!row) return; // refused, and said so
    this.id = row.id;
    const [{ channel }] = await this.engine.db.rows(
      sql`select qwf.wake_channel(${this.id}) as channel`);
    await this.engine.db.listen(channel, () => this.#woken());
    if (this.state === 'starting') this.#to('asleep');
  }

  #woken() {
    if (this.state !== 'asleep') return;
    this.engine.say(this.host, 'is woken by NOTIFY: there is work');
    this.#rest = 0;
  }

  async #claim() {
    const claim = sql`select * from qwf.claim('cpu', ${this.id}, 1, ${`${this.engine.pace.lease} s`})`;
    const [job] = await this.engine.db.rows(claim);
    if (job) this.engine.say(this.host, `claims job ${job.job_id} (${job.node_id ?? job.task}), `
      + `attempt ${job.attempt}, with the token ${short(job.token)}`, { sql: claim, changed: true });
    if (this.state !== 'asleep') { // crashed or frozen meanwhile: nobody renews this claim
      if (job && this.state === 'frozen') this.job = { ...job, done: 0 };
      else if (job) this.engine.remember(job);
    } else if (job) {
      this.job = { ...job, done: 0 };
      this.#beat = this.#beatEvery();
      this.#to('working');
    } else {
      this.#rest = LOOK_MS;
      await this.engine.db.rows(sql`select qwf.stay_asleep(${this.id}, 'cpu')`);
    }
  }

  async #work() {
    const { job } = this;
    if (KILLS.has(job.task) && job.done > this.need / 2) {
      this.crash(`is killed by job ${job.job_id}: its memory is full`);
    } else if (job.done >= this.need) await this.#report();
    else if (this.#beat <= 0) await this.#heartbeat();
  }

  async #heartbeat() {
    this.#beat = this.#beatEvery();
    const { job } = this;
    const beat = sql`select * from qwf.heartbeat(${this.id}, array[${job.token}]::uuid[], ${
      `${this.engine.pace.lease} s`})`;
    const [answer] = await this.engine.db.rows(beat);
    if (!answer || answer.verdict === 'ok' || this.job !== job) return;
    this.engine.say(this.host, `is told that job ${job.job_id} is ${answer.verdict}, and stops it`,
      { sql: beat });
    if (answer.verdict === 'cancel') await this.#send('cancelled');
    this.#drop();
  }

  #beatEvery() {
    return this.engine.pace.lease * 1000 / 3;
  }

  async #report() {
    const { job } = this;
    const why = FAILS(job);
    const verdict = await (why ? this.#send('error', {}, why)
      : this.#send('completed', { by: this.host, ...this.engine.output(job) }));
    if (verdict && this.job === job) this.#drop();
  }

  async #send(outcome, output = {}, error = null) {
    const { job } = this;
    const told = ([{ verdict }]) => (verdict === 'ok'
      ? `reports job ${job.job_id}: ${outcome}`
      : `reports job ${job.job_id} with its old token ${short(job.token)}: the answer is "lost". `
        + 'The report is refused and changes nothing');
    const report = sql`select qwf.finish(${job.job_id}, ${job.token}, ${outcome}, ${output}, ${
      error}) as verdict`;
    const rows = await this.engine.call(this.host, told, report,
      ([{ verdict }]) => (verdict === 'lost' ? 'refused' : 'reported'));
    return rows[0]?.verdict;
  }

  #drop() {
    this.job = null;
    if (this.state === 'working') this.#to('asleep');
  }

  #to(state) {
    this.state = state;
    this.#rest = 0;
  }

  // The process dies. It tells nobody.
  crash(words = 'crashes without a word') {
    if (this.state === 'crashed') return;
    const held = this.job;
    if (held) this.engine.remember(held);
    this.job = null;
    this.overtaken = false;
    this.#to('crashed');
    this.#rest = DOWN_MS;
    this.engine.say(this.host, held ? `${words}. It held job ${held.job_id}` : words,
      { kind: held ? 'crashed' : null });
  }

  restart() {
    if (this.state === 'crashed') this.#to('starting');
  }

  // Its network and its calls stop; its body works on, and does not know.
  freeze() {
    if (!['asleep', 'working'].includes(this.state)) return;
    this.#to('frozen');
    this.engine.say(this.host, this.job
      ? `is cut off from the database. It works on at job ${this.job.job_id}, and does not know`
      : 'is cut off from the database');
  }

  // The network is back. It reports what it did, with the token it still has.
  async thaw() {
    if (this.state !== 'frozen') return;
    this.engine.say(this.host, 'is back, and believes that nothing happened');
    this.overtaken = false;
    if (this.job) {
      this.engine.remember(this.job);
      this.job.done = this.need;
    }
    this.#to(this.job ? 'working' : 'asleep');
  }
}
