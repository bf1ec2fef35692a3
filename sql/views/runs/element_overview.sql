-- Deploy qwf:views/runs/element_overview
-- Purpose: The elements of maps, and how long each of them ran.
-- Guarantees: One row an element. Reads its attempts only if it had several.
-- Called by: people, qwf web.

begin;

create view qwf.element_overview as
select
  c.parent_id as map_id, c.element, c.id as job_id, c.run_id, c.node_id, c.status, c.attempt,
  coalesce(w.host, split_part(nullif(c.claimed_by, 'qwf.engine'), ':', 1)) as host,
  case when c.status = 'completed' and c.attempt = 1  -- its only attempt; most are such
    then extract(epoch from c.finished_at - c.claimed_at)
    else nullif(coalesce((
        select sum(extract(epoch from t.finished_at - t.started_at)) from qwf.job_attempts t
        where t.job_id = c.id), 0)
      + case when c.status = 'running' then extract(epoch from clock.now - c.claimed_at)
        else 0 end, 0)
  end::float8 as seconds,
  left(c.last_error, 2000) as error,
  case when starts_with(c.queue, 'qwf.') then (
    select r.id from qwf.runs r
    where r.parent_id = c.id order by r.id desc limit 1) end as child_run
from qwf.jobs c
cross join (select qwf.now() as now) clock
left join qwf.workers w on w.id = c.claimed_by
where c.parent_id is not null;
comment on view qwf.element_overview is
  'Elements of maps: select * from qwf.element_overview where map_id = 7 order by element.';
comment on column qwf.element_overview.map_id is 'Job id of the map.';
comment on column qwf.element_overview.element is 'Position in the list of the map, from 0.';
comment on column qwf.element_overview.job_id is 'Job id of the element.';
comment on column qwf.element_overview.run_id is 'Run of the map.';
comment on column qwf.element_overview.node_id is 'Node of the map, with the position.';
comment on column qwf.element_overview.status is 'State; see docs/concepts.md.';
comment on column qwf.element_overview.attempt is 'Claims so far.';
comment on column qwf.element_overview.host is 'Box of the last claim; null: none yet.';
comment on column qwf.element_overview.seconds is
  'Seconds that its attempts ran, the running one until now; null: none has run.';
comment on column qwf.element_overview.child_run is
  'The run that it is, the last one; null: it runs no workflow, or has not begun.';
comment on column qwf.element_overview.error is 'Error of its last attempt that had one, cut.';

commit;
