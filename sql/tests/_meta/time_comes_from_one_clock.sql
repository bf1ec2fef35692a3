-- Style rule 10: tests replace qwf.now(), so nothing may look at another clock, but to see how long
-- a search took, and what it found for a second.
begin;
select plan(1);

select is_empty($$
  select p.oid::regprocedure, m.clock[1]
  from pg_proc p
  cross join lateral regexp_replace(p.prosrc, '--[^\n]*|qwf\.now\(\)', '', 'g') b(code)
  cross join lateral regexp_matches(b.code,
    '\m(now\(\)|(clock|transaction|statement)_timestamp|current_(time|date)|localtime)',
    'gi') m(clock)
  where p.pronamespace = 'qwf'::regnamespace
    and p.proname not in ('now', '_pick_next', '_keep_floor', '_floor')
$$, 'functions take the time from qwf.now() alone');

select * from finish();
rollback;
