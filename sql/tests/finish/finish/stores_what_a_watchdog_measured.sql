-- 2 tests
select qwf.enqueue('stalls'), qwf.enqueue('crashes');
select 'answered ' || qwf.finish(c.job_id, c.token, 'lost', detail => case c.task
    when 'stalls' then '{"reason": "stalled", "readings": {"silent_s": 121.5, "state": "sleeping"}}'
    else '{"reason": "crashed", "signal": 11}' end::jsonb)
from qwf.claim('default', 'w', 2) c;

select results_eq($$
  select kind, detail ->> 'reason', detail -> 'readings' ->> 'silent_s'
  from _qwf.event_log where kind in ('lost', 'tripped') order by job_id
$$, $$ values ('tripped', 'stalled', '121.5'), ('lost', 'crashed', null) $$,
  'a watchdog trip differs from other losses, and has its readings');
select is((select reason from qwf.attempt_overview a join qwf.jobs j on j.id = a.job_id
  where j.task = 'stalls'), 'stalled', 'the attempt has the reason');
