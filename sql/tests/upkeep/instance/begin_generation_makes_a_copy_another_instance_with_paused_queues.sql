-- 3 tests
create temp table was as select id from qwf.instance;
select qwf.pause_queue('cpu');
create temp table done as select qwf.begin_generation(copy => true) as told;
select isnt((select id from qwf.instance), (select id from was), 'another instance');
select is_empty('select name from qwf.queues where not paused', 'all queues are paused');
select ok((select told -> 'paused' ? 'default' and not told -> 'paused' ? 'cpu' from done),
  'it names those that it has paused');
