-- 4 tests
select qwf_test.set_now('2026-01-01 12:00Z');
select qwf.enqueue('index', '{"n": 1}', key => 'k', debounce => '5 s');
select qwf_test.set_now('2026-01-01 12:00:03Z');
create temp table said as
select e.*
from qwf.enqueue_many('[{"task": "index", "key": "k", "debounce": "5 s", "expires": 1}]') e;
select results_eq('select merged, kept, run_at from said',
  $$ values (true, 'old args', '2026-01-01 12:00:08Z'::timestamptz) $$, 'the caller is told');
select results_eq('select inputs ->> $$n$$, run_at, expires_at from qwf.jobs',
  $$ values ('1', '2026-01-01 12:00:08Z'::timestamptz, null::timestamptz) $$, 'it keeps them');
select qwf.enqueue('other', key => 'k', debounce => '5 s', expires => '1 s');
select qwf_test.set_now('2026-01-01 12:00:06Z');
select qwf.enqueue('other', key => 'k', debounce => '5 s', expires => '1 s');
select results_eq($$ select run_at, expires_at from qwf.jobs where task = 'other' $$,
  $$ values ('2026-01-01 12:00:11Z'::timestamptz, '2026-01-01 12:00:12Z'::timestamptz) $$,
  'it expires so long after it can start');
select qwf_test.set_now('2026-01-01 12:00:11Z');
select is(_qwf.promote_due(), 2, 'both start');
