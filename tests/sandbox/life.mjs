// The life of a run in PGlite: a crash, a lapsed lease, a zombie, a question, a wake-up.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

export async function live(db) {
  const ask = async (sql, values) => (await db.query(sql, values)).rows;
  const one = async (sql, values) => Object.values((await ask(sql, values))[0])[0];
  const claim = async (worker, lease = '1 min') =>
    (await ask("select * from qwf.claim('cpu', $1, 1, $2)", [worker, lease]))[0];
  const finish = (job, output = {}) =>
    one("select qwf.finish($1, $2, 'completed', $3)", [job.job_id, job.token, output]);
  const heartbeat = (worker, job) =>
    ask('select * from qwf.heartbeat($1, array[$2]::uuid[])', [worker, job.token]);

  await one(`select qwf.register_pipeline('{"name": "greet", "nodes": [
    {"id": "hello", "inputs": {"who": {"$from": "pipeline.who"}}},
    {"id": "shout", "depends_on": ["hello"], "inputs": {"text": {"$from": "hello.text"}}}]}')`);
  await one(`select qwf.register_workflow('{"name": "greet", "steps": [
    {"id": "greet", "kind": "pipeline", "pipeline": "greet", "inputs": {"who": {"$from": "who"}}},
    {"id": "ok", "kind": "input", "widget": "confirm", "prompt": "Send it?", "target": "yes",
     "depends_on": ["greet"]}]}')`);
  const boxA = await one("select qwf.register_worker('box-a', 'cpu')");
  const boxB = await one("select qwf.register_worker('box-b', 'cpu')");
  const heard = [];
  await db.listen(await one('select qwf.wake_channel($1)', [boxA]), (queue) => heard.push(queue));
  await ask("select qwf.sleep($1, 'cpu')", [boxA]);
  await pause(20); // one that fell asleep just now is not woken: it looks again by itself
  const run = await one(`select qwf.enqueue_run('greet', context => '{"who": "Ada"}')`);
  assert.deepEqual(heard, ['cpu']);

  const lost = await claim(boxA, '1 s'); // and box-a dies
  assert.deepEqual(lost.inputs, { who: 'Ada' });
  assert.equal(await claim(boxB), undefined);
  while ((await ask('select * from _qwf.reclaim()')).length === 0) await pause(50);
  const held = await claim(boxB);
  assert.equal(held.job_id, lost.job_id);
  assert.notEqual(held.token, lost.token);

  assert.equal(await finish(lost, { text: 'a zombie' }), 'lost');
  assert.equal((await heartbeat(boxA, lost))[0].verdict, 'lost');
  assert.equal((await heartbeat(boxB, held))[0].verdict, 'ok');
  assert.equal(await finish(held, { text: 'hello Ada' }), 'ok');
  assert.equal(await finish(held, { text: 'hello Ada' }), 'ok'); // the same report again

  const next = await claim(boxA);
  assert.deepEqual(next.inputs, { text: 'hello Ada' });
  await finish(next, { text: 'HELLO ADA' });
  assert.equal((await ask('select * from qwf.pending_inputs'))[0].prompt, 'Send it?');
  await one("select qwf.submit_input($1, 'ok', 'true')", [run]);
  assert.equal(await one('select status from qwf.runs where id = $1', [run]), 'completed');
  await one('select qwf.tick()');
  assert.deepEqual(await ask('select * from qwf.check_invariants()'), []);
}
