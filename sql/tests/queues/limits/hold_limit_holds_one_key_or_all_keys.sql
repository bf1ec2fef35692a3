-- 15 tests
select qwf_test.set_now('2026-01-01 12:00Z');
create temp table worker as select qwf_test.worker() as id;
select qwf.create_limit('customer', 2, keyed => true), qwf.create_limit('plain', 2);
select qwf.enqueue(k, queue => 'gpu', limit_by => 'customer:' || k)
from unnest('{acme,bob,acme}'::text[]) k;

select qwf.hold_limit('customer', '2026-01-01 12:10Z', 'acme', 7);
select is(qwf_test.gets(id, 9), 'bob', 'the other keys start') from worker;
select is((select w from qwf.why_not(
    (select min(id) from qwf.jobs where status = 'queued')) w limit 1),
  format('limit customer:acme is held until %s, by job 7', timestamptz '2026-01-01 12:10Z'),
  'why_not names the key');
select is((select held_back from qwf.busiest_keys('customer:acme')),
  format('held until %s, by job 7', timestamptz '2026-01-01 12:10Z'), 'so does the list of keys');
select is((select held_keys from qwf.limit_overview where name = 'customer'), 1::bigint,
  'the view counts them');
select is((select hint from qwf.doctor() where subject = 'limit customer:acme'),
  'to end it: qwf limit hold customer --key ''acme'' --end', 'doctor says how to end it');
select qwf.enqueue('bob', queue => 'gpu', limit_by => 'customer:bob');
select qwf.hold_limit('customer', '2026-01-01 12:20Z');
select is(qwf_test.gets(id, 9), 'nothing', 'without a key all wait') from worker;
select qwf.hold_limit('customer', null, 'acme');
select is(qwf_test.gets(id, 9), 'nothing', 'one key does not end the hold of all') from worker;
select qwf.hold_limit('customer', null);
select is(qwf_test.gets(id, 9), 'acme, bob, acme', 'null ends it') from worker;

select is_empty($$
    select from _qwf.event_log where detail::text like '%acme%' and kind = 'limit_changed' $$,
  'no event has the name of a key');
select throws_ok($$ select qwf.hold_limit('plain', '2026-01-01 12:10Z', 'acme') $$, 'QW005');
select throws_ok($$ select qwf.hold_limit('customer', '2026-01-01 12:10Z', '') $$, 'QW005');
select throws_ok($$ select qwf.hold_limit('plain', '2027-06-01 12:10Z') $$, 'QW005');
select throws_ok($$ select qwf.hold_limit('plan', '2026-01-01 12:10Z') $$, 'QW001');
select qwf_test.hints($$ select qwf.hold_limit('customer:acme', null) $$,
  'give its key apart: select qwf.hold_limit(''customer'', until, key => ''acme'')',
  'as a job names it, the hint does not propose to hold all keys');

select qwf.finish(j.id, j.token, 'completed') from qwf.jobs j where j.status = 'running';
select qwf.hold_limit('customer', '2026-01-01 12:10Z', 'acme'), qwf.drop_limit('customer');
select is_empty('select * from qwf.limit_holds', 'a dropped limit is not held');
