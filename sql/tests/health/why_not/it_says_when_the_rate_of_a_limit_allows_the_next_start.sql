-- 2 tests
select qwf_test.set_now('2026-01-01 12:00:00Z');
set local timezone = 'UTC';
select qwf.create_limit('smtp', starts => 2, per => '20 s');
select qwf.enqueue(t, queue => 'cpu', limit_by => 'smtp') from unnest('{a,b,c}'::text[]) t;
select qwf.register_worker('box', 'cpu');
select qwf_test.claim();
select qwf_test.travel('5 s');
select qwf_test.claim();
select is((select string_agg(w, '; ') from qwf.why_not(qwf_test.job('c')) w),
  'limit smtp allows 2 starts in any 00:00:20, and all are used: '
  'the next is allowed at 2026-01-01 12:00:20+00; no job is ahead of it in queue cpu', 'when');
select qwf_test.travel('15 s');
select is((select string_agg(w, '; ') from qwf.why_not(qwf_test.job('c')) w),
  'no job is ahead of it in queue cpu', 'then it may start');
