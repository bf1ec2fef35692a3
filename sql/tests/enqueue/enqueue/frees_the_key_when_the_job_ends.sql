-- 3 tests
select qwf.enqueue('mail', key => 'k');
select qwf_test.attempt('mail');
select isnt(qwf.enqueue('mail', key => 'k'), (select min(id) from qwf.jobs), 'completed');
select qwf_test.attempt('mail', 'fatal');
select isnt(qwf.enqueue('mail', key => 'k'),
  (select max(id) from qwf.jobs where finished_at is not null), 'failed');
select is((select count(*) from qwf.jobs), 3::bigint, 'three jobs');
