select qwf_test.set_now('2026-01-01 12:00Z');
create temp table job as
select name, qwf.enqueue(name, max_attempts => tries, backoff => '[30]') as id
from (values ('erring', 3), ('fatal', 3), ('lost', 3), ('last', 1)) t (name, tries);
create temp table outcome (name, outcome) as
values ('erring', 'error'), ('fatal', 'fatal'), ('lost', 'lost'), ('last', 'tempfail');
select qwf.finish(c.job_id, c.token, o.outcome)
from qwf.claim('default', 'w', 4) c join outcome o on o.name = c.task;

select results_eq($$
    select j.name, a.status, a.retry_s between 20 and 40, a.tries, a.max_tries
    from qwf.after_failures(
        array(select id from job join outcome using (name) order by name), array[1, 1, 1, 1],
        array(select outcome from job join outcome using (name) order by name)) a
    join job j on j.id = a.job_id
    order by j.name
  $$,
  $$ values ('erring', 'scheduled', true, 1, 3), ('fatal', 'failed', null::boolean, 1, null::int),
    ('last', 'failed', null, 1, 1), ('lost', 'queued', null, 1, 3) $$,
  'it counts what the outcome counts');
