-- Attempts, events and answers are append-only: no function changes them but by giving an event its
-- number and by erasing, and only prune deletes;
-- drop_completed does where completed jobs are not kept.
select is_empty($$
  select p.oid::regprocedure, m.found[1]
  from pg_proc p
  cross join lateral regexp_matches(p.prosrc,
    '(?:update|delete from|truncate)\s+_?qwf\.(?:job_attempts|event_log|input_answers)\M', 'gi')
    m (found)
  where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
    and (p.pronamespace::regnamespace::text, p.proname) not in (
      ('qwf', 'prune'), ('_qwf', 'delete_jobs'), ('_qwf', 'number_batch'),
      ('_qwf', 'erase_history'), ('_qwf', 'erase_events'),
      ('_qwf', 'prune_events'))
$$, 'nothing rewrites what happened');
