-- 2 tests
select qwf.enqueue('a'), qwf.enqueue('b');
create temp table claimed as
select c.job_id, c.token from qwf.register_worker('box', 'default') w (id)
cross join lateral qwf.claim('default', w.id, 2) c;
select qwf.progress(c.job_id, c.token, 0.9, 'nearly') from claimed c;
select qwf.finish(c.job_id, c.token, case when j.task = 'a' then 'completed' else 'fatal' end)
from claimed c join qwf.job_details j on j.id = c.job_id;
select is((qwf.result(j.id) ->> 'progress')::real, case when j.task = 'a' then 1 else 0.9 end::real,
  j.task || ', its progress') from qwf.job_details j order by j.id;
