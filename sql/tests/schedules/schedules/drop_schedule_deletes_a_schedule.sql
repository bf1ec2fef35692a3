-- 3 tests
select qwf.create_schedule('x', 't', every => '1 h');
select qwf_test.travel('2 h');
select _qwf.fire_schedules();
select qwf.drop_schedule('x');
select is_empty('select * from qwf.schedule_overview', 'it is gone');
select is(qwf_test.state('t'), 'queued', 'its job stays');
select qwf_test.travel('2 h');
select is(_qwf.fire_schedules(), 0, 'it fires no more');
