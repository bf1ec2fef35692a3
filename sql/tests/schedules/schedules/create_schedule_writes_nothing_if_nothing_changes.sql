select qwf.create_schedule('c', 't', cron => '0 * * * *', hours => null, args => '{"a": 1}');
select qwf.create_schedule('h', 't', minute => 5, hours => '{3, 1}');
create temporary table before as select ctid as old_ctid, name from qwf.schedules;
select qwf.create_schedule('c', 't', cron => '0 * * * *', hours => null, args => '{"a": 1}');
select qwf.create_schedule('h', 't', minute => 5, hours => '{1, 3, 3}');
select results_eq('select ctid, name from qwf.schedules order by name',
  'select old_ctid, name from before order by name', 'the rows were not written again');
