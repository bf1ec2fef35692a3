-- 9 tests
create temp table worker as
select 'plain' as name, qwf.register_worker('box', 'default') as id
union all
select 'agent', qwf.register_worker('box', 'default', '{"follows_orders": true}');
select qwf.enqueue('a');
create temp table held as
select 'plain' as name, c.job_id, c.token
from qwf.claim('default', (select id from worker where name = 'plain')) c;
select qwf.enqueue('b');
insert into held
select 'agent', c.job_id, c.token
from qwf.claim('default', (select id from worker where name = 'agent')) c;

select is((select count(*) from held), 2::bigint, 'each worker has a job');
select qwf.worker_control('box', 'default', 'off', 'drain');
select is((select b.verdict from held h join worker w using (name),
    qwf.heartbeat(w.id, array[h.token]) b where name = 'plain'), 'ok',
  'a worker that drains keeps its jobs');
select qwf.worker_control('box', 'default', 'off', 'hard');
select is((select b.verdict from held h, qwf.heartbeat('another', array[h.token]) b
    where name = 'plain'), 'ok', 'another worker does not give them back');
select is((select b.verdict from held h join worker w using (name),
    qwf.heartbeat(w.id, array[h.token]) b where name = 'plain'), 'lost', 'hard: kill the body');
select is(qwf_test.state('a'), 'queued', 'the job waits again');
select is((select (j.failures, j.losses)::text from qwf.jobs j where j.id = qwf_test.job('a')),
  '(0,0)', 'and no budget is counted');
select is((select qwf.finish(h.job_id, h.token, 'released') from held h where name = 'plain'),
  'lost', 'a release of its own comes late');
select is((select b.verdict from held h join worker w using (name),
    qwf.heartbeat(w.id, array[h.token]) b where name = 'agent'), 'ok',
  'an agent that follows orders keeps its jobs until it gives them back');
select is((select qwf.finish(h.job_id, h.token, 'completed') from held h where name = 'agent'),
  'ok', 'so a body that has ended is not lost');
