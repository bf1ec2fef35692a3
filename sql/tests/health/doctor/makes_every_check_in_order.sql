-- 3 tests
select is(
  (select array_agg(f.check order by f.place)
  from (select d.check, min(d.place) as place from qwf.doctor() with ordinality
    d ("check", level, subject, says, hint, place) group by d.check) f),
  array['server', 'roles', 'settings', 'vacuum', 'snapshots', 'tick', 'runs', 'invariants',
    'queues', 'workers', 'models', 'schedules', 'late', 'alerts', 'options', 'folders'],
  'the server first, then the engine');
select results_eq($$select d.check, d.level from qwf.doctor('{tick,runs}') d$$,
  $$values ('tick', 'fine'), ('runs', 'fine')$$, 'or only the named ones');
select is_empty($$select * from qwf.doctor('{}')$$, 'or none');
