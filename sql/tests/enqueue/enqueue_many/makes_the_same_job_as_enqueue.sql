select qwf_test.set_now('2030-01-01');
select qwf.enqueue('mail');
select count(*) from qwf.enqueue_many('[{"task": "mail"}]');
select results_eq($$
  select count(distinct to_jsonb(j) - 'id' - 'position') from qwf.jobs j
$$, array[1::bigint], 'the same defaults');
