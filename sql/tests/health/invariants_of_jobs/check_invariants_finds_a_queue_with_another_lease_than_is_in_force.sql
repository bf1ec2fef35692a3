-- 4 tests
select qwf.create_queue('own', lease => '10 s');
update qwf.settings set lease = '20 s', timeout = '5 min';
select results_eq($$
  select name, effective_lease, effective_timeout from qwf.queues where name in ('cpu', 'own')
  order by name
$$, $$ values ('cpu', interval '20 s', interval '5 min'), ('own', '10 s', '5 min') $$,
  'the settings hold where the queue has no value');
select qwf.create_queue('own', unset => '{lease}');
select is((select effective_lease from qwf.queues where name = 'own'), interval '20 s',
  'a value that is unset is that of the settings again');
select is_empty('select * from qwf.check_invariants()', 'all agree');
alter table qwf.queues disable trigger tg_queues__effective;
update qwf.queues set effective_lease = '1 h' where name = 'own';
select is((select subject from qwf.check_invariants()), 'queue own', 'one that lags is found');
