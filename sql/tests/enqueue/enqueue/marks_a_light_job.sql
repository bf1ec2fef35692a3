-- 3 tests
select qwf.enqueue('heavy', queue => 'gpu'), qwf.enqueue('light', queue => 'gpu', light => true);
select qwf.enqueue('keyed', queue => 'gpu', light => true, key => 'k');
select qwf.enqueue_many('[{"task": "many", "queue": "gpu", "light": true}]');
select results_eq('select task, light from qwf.jobs order by id',
  $$ values ('heavy', false), ('light', true), ('keyed', true), ('many', true) $$, 'as given');
select bag_eq($$ select task from qwf.claim('gpu', 'w', 9, light_only => true) $$,
  $$ values ('light'), ('keyed'), ('many') $$, 'a worker whose card is in use takes only these');
select bag_eq($$ select task from qwf.claim('gpu', 'w', 9) $$, $$ values ('heavy') $$, 'else all');
