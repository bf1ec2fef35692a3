-- Deploy qwf:views/fleet/known_names
-- Purpose: The names of queues, workflows, tasks, boxes, workers, model servers, schedules
--   and limits.
-- Guarantees: A filter by kind reads only what has names of that kind.

begin;

create view qwf.known_names as
select 'queue' as kind, q.name from qwf.queues q where not starts_with(q.name, 'qwf.')
union all
select 'workflow', w.name from qwf.workflows w where w.current
union all
select 'schedule', s.name from qwf.schedules s
union all
select 'limit', l.name from qwf.limits l
union all
select distinct 'host', w.host from qwf.workers w
union all
select 'worker', w.id from qwf.workers w
union all
select distinct 'server', w.host || '/' || (s.value ->> 'name')
from qwf.workers w, jsonb_array_elements(w.servers) s
union all
select 'task', t.name
from (
  select c.task as name from qwf.attempt_totals c
  union
  select unnest(w.tasks) from qwf.workers w
) t;
comment on view qwf.known_names is
  'Names that people type: select name from qwf.known_names where kind = ''queue''.';
comment on column qwf.known_names.kind is
  'queue, workflow, schedule, limit, host, worker, server or task.';
comment on column qwf.known_names.name is
  'The name; of a model server, HOST/NAME. Tasks are those that have run or that a worker has.';

commit;
