// Tests sign_up.mjs against the real SQL of qwf, in memory:  node --test
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { PGlite } from '@electric-sql/pglite';
import { signUp } from './sign_up.mjs';

let db;
before(async () => {
  db = await PGlite.create(); // in memory: it is gone when the test ends
  await db.exec(readFileSync('qwf.sql', 'utf8')); // from: qwf migrate sql > qwf.sql
  await db.exec('create table users (id serial primary key, email text unique)');
});
after(() => db.close());

const rows = async (sql, ...values) => (await db.query(sql, values)).rows;

test('an account and its mail are written together', async () => {
  const id = await signUp(db, 'ada@example.org');
  const [job] = await rows('select task, inputs, status from qwf.jobs where id = $1', id);
  assert.deepEqual(job, { task: 'send_email', inputs: { to: 'ada@example.org' }, status: 'queued' });
});

test('without an account there is no mail', async () => {
  await signUp(db, 'bob@example.org');
  await assert.rejects(signUp(db, 'bob@example.org'), { code: '23505' });
  const mails = await rows("select from qwf.jobs where inputs ->> 'to' = 'bob@example.org'");
  assert.equal(mails.length, 1);
});

test('a worker gets the mail, and its result can be read', async () => {
  const id = await signUp(db, 'eve@example.org');
  await rows('select qwf.change_job($1, run_next => true)', id); // before those of the other tests
  const [job] = await rows("select * from qwf.claim('cpu', 'a worker')");
  assert.deepEqual(job.inputs, { to: 'eve@example.org' });
  const [{ verdict }] = await rows("select qwf.finish($1, $2, 'completed', $3) as verdict",
    job.job_id, job.token, { sent: true });
  assert.equal(verdict, 'ok');
  const [{ result }] = await rows('select qwf.result($1) as result', id);
  assert.deepEqual(result.output, { sent: true });
});
