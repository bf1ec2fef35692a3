-- 2 tests
create temp table who as select qwf.register_worker('box', 'gpu') as one;
select qwf.worker_control('box', 'gpu', 'off', 'hard', 'ada');
select ok(not qwf.withdraw_worker(one, 'harm'), 'it is off already') from who;
select is((select requested_by from qwf.worker_controls), 'ada', 'and stays as it was');
