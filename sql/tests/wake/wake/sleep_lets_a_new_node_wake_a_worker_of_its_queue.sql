select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"], "gpu": true}]');
select qwf.enqueue_run('pair');
select qwf_test.claim();
select qwf.sleep('cpu worker', 'cpu'), qwf.sleep('gpu worker', 'gpu');
update qwf.sleepers set since = since - interval '1 s';
select qwf_test.report('s/a');
select is(qwf_test.woken(), 'gpu worker', 'the one that can run what opened');
