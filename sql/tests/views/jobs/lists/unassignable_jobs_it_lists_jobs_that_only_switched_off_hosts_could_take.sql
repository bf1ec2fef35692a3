-- 2 tests
select qwf.register_worker('box', 'cpu'), qwf.register_worker('other', 'cpu', '{"tasks": []}');
select qwf.enqueue('a', queue => 'cpu');
select is_empty('select * from qwf.unassignable_jobs', 'somebody would');
select qwf.worker_control('box', 'cpu', 'off');
select is((select count(*) from qwf.unassignable_jobs), 1::bigint, 'but is switched off');
