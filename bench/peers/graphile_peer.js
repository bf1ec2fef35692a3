// Runs graphile-worker with the settings of its own perfTest: 24 jobs at once, batched. The PG*
// variables say where the database is.
//
//     graphile_peer.js install | fill JOBS | work BATCH FILE | produce BATCH BEHIND | probe NUMBER
//     | listen WORKERS

const fs = require("node:fs");
const { Pool } = require("pg");
const { run, runMigrations } = require("graphile-worker");

const CONCURRENT_JOBS = 24;
const now = () => (performance.timeOrigin + performance.now()) / 1000;
const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
const many = `select count(*) from graphile_worker.add_jobs(array(
  select json_populate_record(null::graphile_worker.job_spec, '{"identifier": "noop"}')
  from generate_series(1, $1::int)))`;

const verbs = {
  async install(pool) {
    await runMigrations({ pgPool: pool });
    await pool.end();
  },

  async fill(pool, jobs) {
    for (let left = Number(jobs); left > 0; left -= 10000) {
      await pool.query(many, [Math.min(left, 10000)]);
    }
    await pool.end();
  },

  async work(pool, batch, path) {
    const out = fs.openSync(path, "a");
    const preset = {
      worker: {
        concurrentJobs: CONCURRENT_JOBS,
        maxPoolSize: CONCURRENT_JOBS + 1,
        localQueue: { size: Number(batch), refetchDelay: { durationMs: 10 } },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    };
    const taskList = {
      noop: async () => {},
      stamp: async (payload) => {
        fs.writeSync(out, `${(now() - payload.asked).toFixed(6)}\n`);
      },
    };
    const { Logger } = require("graphile-worker");
    const logger = new Logger(() => () => {});
    const runner = await run({ pgPool: pool, preset, taskList, logger, noHandleSignals: true });
    console.log("ready");
    await runner.promise;
  },

  async listen(pool, workers) {
    const preset = { worker: { concurrentJobs: Number(workers) } };
    const { Logger } = require("graphile-worker");
    const logger = new Logger(() => () => {});
    const taskList = { other: async () => {} };
    const runner = await run({ pgPool: pool, preset, taskList, logger, noHandleSignals: true });
    console.log("ready");
    await runner.promise;
  },

  async produce(pool, batch, behind) {
    for (let sent = 0; ; sent += Number(batch)) {
      await pool.query(many, [Number(batch)]);
      if (sent >= behind) {
        sent = 0;
        const full = `select from graphile_worker._private_jobs limit 1 offset ${Number(behind)}`;
        let began = now();
        while ((await pool.query(full)).rowCount) {
          await pause(Math.min(0.5, Math.max(0.02, 20 * (now() - began))));
          began = now();
        }
      }
    }
  },

  async probe(pool, number) {
    for (let i = 0; i < number; i++) {
      const payload = JSON.stringify({ asked: now() });
      await pool.query("select graphile_worker.add_job('stamp', $1::json)", [payload]);
      await pause(0.03 + 0.03 * Math.random());
    }
    await pool.end();
  },
};

const [verb, ...rest] = process.argv.slice(2);
verbs[verb](new Pool({ max: CONCURRENT_JOBS + 1 }), ...rest).catch((error) => {
  console.error(error);
  process.exit(1);
});
