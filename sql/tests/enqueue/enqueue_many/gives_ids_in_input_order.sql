create temp table made as
select id, place
from qwf.enqueue_many('[{"task": "c"}, {"task": "a"}, {"task": "b"}]') with ordinality m (id,
  place);
select results_eq('select j.task from made m join qwf.jobs j on j.id = m.id order by m.place',
  array['c', 'a', 'b'],
  'one for each item');
