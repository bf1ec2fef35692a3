-- 6 tests
-- An edit that comes while the job runs is done by a job of its own, after it.
create temp table made as select qwf.enqueue('mail', '{"n": 1}', key => 'k') as id;
select qwf_test.claim('default');
create temp table next as select qwf.enqueue('mail', '{"n": 2}', key => 'k') as id;
select isnt((select id from next), (select id from made), 'a job of its own');
select is((select qwf.enqueue('mail', '{"n": 3}', key => 'k')), (select id from next),
  'a third call merges into the one that waits');
select is(qwf_test.claim('default'), 'claimed nothing', 'which does not start beside the first');
select is((select qwf.finish(j.id, j.token, 'completed') from qwf.jobs j, made m
  where j.id = m.id), 'ok', 'the first ends');
select is((select c.inputs from qwf.claim('default', 'w') c), '{"n": 2}',
  'then it starts, with the arguments of the later call');
select is_empty('select * from qwf.check_invariants()', 'nothing is broken');
