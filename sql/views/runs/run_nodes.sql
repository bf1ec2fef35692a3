-- Deploy qwf:views/runs/run_nodes
-- Purpose: The state of each node of a run. workflow_graph has what never changes.
-- Guarantees: Of an error and a message, what fits a line. A run of a thousand nodes is read in a
--   few milliseconds.
-- Called by: people, _node_states, qwf web.

begin;

create view qwf.run_nodes as
select
  j.run_id, j.node_idx as idx, j.id as job_id, j.status, j.attempt,
  case when j.status = 'completed' then 1 else p.fraction end as progress,
  coalesce(left(p.message, 200), case
    when j.elements is not null then (
      select case when n.repeat is null then _qwf.spell_enough((
          select jsonb_object_agg(e.status, e.count) from (
            select c.status, count(*) from qwf.jobs c where c.parent_id = j.id group by c.status
          ) e), n.min_success)
        else (
          select _qwf.spell_turn(t.element, n.repeat -> 'max', t.status, t.run_at)
          from qwf.jobs t where t.parent_id = j.id and t.element = j.elements - 1) end
      from qwf.graph_nodes n
      where n.graph_id = j.graph_id and n.idx = j.node_idx and (n.repeat is not null
        or n.stop_when_reached and j.status = 'completed'
        and (j.failed_elements > 0 or j.remaining_deps > 0)))
    when j.status = 'scheduled' and j.attempt = 0
      then _qwf.spell_turn(null, null, j.status, j.run_at)
    when j.status = 'completed' and j.queue is null and (
      select a.by_default from qwf.input_answers a where a.job_id = j.id order by a.id desc limit 1)
      then case when j.input_spec ? 'signal' then 'no signal in time' else 'nobody answered in time'
        end || ', its default was taken'
    when j.status = 'awaiting_input' and j.input_spec ? 'signal' and not j.input_spec ? 'widget'
      then 'waits for signal ' || left(j.input_spec ->> 'signal', 150)
  end) as message,
  left(case when starts_with(j.last_error, 'Traceback')
    then (regexp_match(right(j.last_error, 400), e'([^\n]+)[[:space:]]*$'))[1]
    else split_part(left(j.last_error, 400), e'\n', 1) end, 200) as error,
  j.claimed_by as worker,
  coalesce((select w.host from qwf.workers w where w.id = j.claimed_by),
    split_part(nullif(j.claimed_by, 'qwf.engine'), ':', 1)) as host,
  j.claimed_at as started_at, j.finished_at,
  case when j.status = 'awaiting_input' then j.queued_at end as waits_since,
  case
    when j.elements is null then null
    when j.status = 'completed' and j.failed_elements = 0 and j.remaining_deps = 0
      then jsonb_build_object('completed', j.elements)
    else coalesce((
      select jsonb_object_agg(e.status, e.count)
      from (
        select c.status, count(*) from qwf.jobs c where c.parent_id = j.id group by c.status
      ) e), '{}')
  end as elements,
  case when starts_with(j.queue, 'qwf.') then (
    select r.id from qwf.runs r
    where r.parent_id = j.id order by r.id desc limit 1) end as child_run
from qwf.jobs j
left join qwf.job_progress p on p.job_id = j.id and p.attempt = j.attempt
where j.run_id is not null and j.node_idx >= 0;
comment on view qwf.run_nodes is
  'State of each node of a run: select * from qwf.run_nodes where run_id = 7 order by idx. A map '
  'is one node.';
comment on column qwf.run_nodes.run_id is 'Run id.';
comment on column qwf.run_nodes.idx is 'Place of the node in its graph: idx of workflow_graph().';
comment on column qwf.run_nodes.job_id is 'Job that executes it.';
comment on column qwf.run_nodes.status is 'State of that job.';
comment on column qwf.run_nodes.attempt is 'Number of its last attempt; 0: none yet.';
comment on column qwf.run_nodes.progress is 'How far it is, from 0 to 1; null: it has not said.';
comment on column qwf.run_nodes.message is
  'The last message about its progress, cut to 200 characters; of a repeat, at which turn it is; '
  'of a map that had enough, how many elements it stopped; of a node that waits, when it starts or '
  'for which signal; of a question, that its default was taken.';
comment on column qwf.run_nodes.error is
  'Of its last error the line that says what is wrong, cut to 200 letters.';
comment on column qwf.run_nodes.worker is 'Worker that had it last.';
comment on column qwf.run_nodes.host is 'Box of that worker.';
comment on column qwf.run_nodes.started_at is 'When its last attempt was claimed.';
comment on column qwf.run_nodes.finished_at is 'When it ended.';
comment on column qwf.run_nodes.waits_since is 'Since when it waits for the answer of a person.';
comment on column qwf.run_nodes.child_run is
  'The run that it is, the last one; null: it runs no workflow, or runs it once for each element.';
comment on column qwf.run_nodes.elements is
  'Of a map, how many of its elements are in which state; null: it is no map, or has not been '
  'spread yet.';

commit;
