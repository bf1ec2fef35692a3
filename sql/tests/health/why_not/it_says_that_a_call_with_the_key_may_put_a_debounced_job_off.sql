-- 3 tests
select qwf_test.set_now('2026-01-01 12:00Z');
set timezone = 'UTC';
create temp table made as
select qwf.enqueue('index', key => 'k', debounce => '5 s', debounce_max => '1 min') as id;
select results_eq('select w from made, qwf.why_not(made.id) w', $$ values (
  'it waits for 2026-01-01 12:00:05+00, in 00:00:05: it is debounced, and a call with its key may '
  'put it off until 2026-01-01 12:01:00+00') $$, 'until when, and why');
select results_eq('select d.start_by from made join qwf.job_details d using (id)',
  $$ values ('2026-01-01 12:01Z'::timestamptz) $$, 'a column says it');
select qwf.change_job(made.id, run_at => '2026-01-01 12:00:07Z') from made;
select results_eq('select w from made, qwf.why_not(made.id) w', $$ values (
  'it waits for 2026-01-01 12:00:07+00, in 00:00:07') $$, 'not if no call can');
