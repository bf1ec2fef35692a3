-- 2 tests
select qwf_test.set_now('2040-01-01 10:00');
select qwf.create_limit('one', 1);
select count(*) from qwf.enqueue_many((
  select jsonb_agg(jsonb_build_object('task', 't', 'queue', v.queue, 'limit_by', v.limit_by))
  from (
    select case when g <= 10000 then 'cpu' else 'gpu' end as queue,
      case when g % 2 = 0 then 'one' end as limit_by
    from generate_series(1, 20002) g) v));
select _qwf.record_minutes();
select is(m.queued, 10000, 'with and without a limit, exactly')
from qwf.queue_minutes m where m.queue = 'cpu';
select ok(m.queued between 10001 and 10100, 'more are estimated')
from qwf.queue_minutes m where m.queue = 'gpu';
