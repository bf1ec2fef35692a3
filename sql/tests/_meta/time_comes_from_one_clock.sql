-- Style rule 10: tests replace qwf.now(), so no function may use another clock, except to measure
-- how long a search took and to trust its result for a second, to see that a timeout is over, and
-- how old transactions are.
select is_empty($$
  select p.oid::regprocedure, m.clock[1]
  from pg_proc p
  cross join lateral regexp_replace(p.prosrc, '--[^\n]*|qwf\.now\(\)', '', 'g') b(code)
  cross join lateral regexp_matches(b.code,
    '\m(now\(\)|(clock|transaction|statement)_timestamp|current_(time|date)|localtime)',
    'gi') m(clock)
  where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
    and p.oid <> all (array[
      'qwf.now', 'qwf.doctor', '_qwf.pick_next', '_qwf.metrics_of',
      '_qwf.postgres_metrics']::regproc[])
$$, 'functions take the time from qwf.now() alone');
