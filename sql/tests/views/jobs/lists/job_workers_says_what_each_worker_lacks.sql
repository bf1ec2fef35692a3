-- 4 tests
select qwf.register_worker('all', 'gpu',
  '{"tasks": ["t"], "models": ["m"], "vram_mb": 9, "labels": {"zone": "eu"}, "project": "p"}');
select qwf.register_worker('any', 'gpu', '{"labels": {"zone": "eu"}}');
select qwf.register_worker('none', 'gpu',
  '{"tasks": ["u"], "models": ["n"], "vram_mb": 4, "labels": {}, "project": "q"}');
select qwf.register_worker('cpus', 'cpu', '{"labels": {"zone": "eu"}}');
select qwf.register_worker('dead', 'gpu', '{"labels": {"zone": "eu"}}');
update qwf.workers set last_seen = qwf.now() - interval '1 h' where host = 'dead';
select qwf.enqueue('t', queue => 'gpu', model => 'm', vram_mb => 8, requires => '{"zone": "eu"}',
  project => 'p');
select results_eq($$
  select host, project_fits, task_fits, model_fits, vram_fits, labels_fit, misses, fits, takes
  from qwf.job_workers where job_id = qwf_test.job('t') order by host
$$, $$
  values ('all', true, true, true, true, true, 0, true, true),
    ('any', true, true, true, true, true, 0, true, true),
    ('none', false, false, false, false, false, 5, false, false)
$$, 'of the live workers of its queue');
select qwf.worker_control('all', 'gpu', 'off', reason => 'repair');
select results_eq($$
  select host, fits, switched_on, reason, takes from qwf.job_workers
  where job_id = qwf_test.job('t') and fits order by host
$$, $$
  values ('all', true, false, 'repair', false), ('any', true, true, null, true)
$$, 'one that is switched off takes nothing');
update qwf.jobs set avoid_host = 'any', avoid_until = qwf.now() + interval '1 h';
select is(string_agg(host, ' '), 'any', 'the box that lost it takes it if no other can')
from qwf.job_workers where job_id = qwf_test.job('t') and takes and not avoided and lost_it;
select qwf.worker_control('all', 'gpu', 'on');
select results_eq($$
  select host, lost_it, avoided, takes from qwf.job_workers
  where job_id = qwf_test.job('t') and fits order by host
$$, $$ values ('all', false, false, true), ('any', true, true, false) $$,
  'and leaves it to another that can');
