insert into _qwf.event_log (kind) select 'lost' from generate_series(1, 5000);
insert into _qwf.event_log (kind) select 'fired' from generate_series(1, 100);
insert into _qwf.event_log (kind) select 'lost' from generate_series(1, 5000);
analyze _qwf.event_log;
select alike(qwf_test.plan_of('select * from qwf.audit order by id desc limit 50'),
  '%event_log_acts%', 'however much has happened meanwhile');
