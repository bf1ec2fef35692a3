-- 7 tests
select qwf_test.edit('12:00:00', '1 h');
select qwf.change_job(j.id, run_next => true) from qwf.jobs j;
select is(qwf_test.edit('12:00:01', '1 h'), null, 'moved to the front');
select is((select count(*) from qwf.claim('default', 'w')), 1::bigint, 'it starts');
select qwf.finish(j.id, j.token, 'fatal') from qwf.jobs j;
select qwf.retry_job(j.id) from qwf.jobs j;
select is(qwf_test.edit('12:00:02', '1 h'), null, 'retried');
select is((select count(*) from qwf.claim('default', 'w')), 1::bigint, 'it starts again');
select qwf_test.edit('12:00:03', '1 h');
select qwf.change_job(j.id, priority => 1) from qwf.jobs j where j.status = 'scheduled';
select is(qwf_test.edit('12:00:04', '1 h'), '2026-01-01 13:00:04Z', 'another priority is no haste');
select qwf.change_job(j.id, run_at => '2026-01-01 12:00:10Z') from qwf.jobs j
where j.status = 'scheduled';
select is(qwf_test.edit('12:00:05', '1 h'), '2026-01-01 12:00:10Z', 'another time');
select qwf.cancel_job(j.id) from qwf.jobs j where j.status = 'scheduled';
select qwf.finish(j.id, j.token, 'completed') from qwf.jobs j where j.status = 'running';
select qwf.retry_job(j.id) from qwf.jobs j where j.status = 'cancelled';
select is(qwf_test.edit('12:00:06', '1 h'), null, 'retried before it ever started');
