-- Deploy qwf:functions/mending/retry_plan
-- Purpose: Shows the plan of retry_run with the same arguments: what is reused, what runs again,
--   what is new and what is removed, and why.
-- Guarantees: Changes nothing and locks nothing. Raises what retry_run would raise, and gives its
--   notices, except that a plan is shown that runs nothing, or that runs completed nodes again
--   although nobody has said what becomes of what they did, and that a key may be taken by then.

begin;

create function qwf.retry_plan(
  run_id bigint, from_node text default null, latest boolean default false,
  context jsonb default null, completed text default null)
returns table (node_id text, verdict text, because text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_run qwf.runs;
  v_graph bigint;
  v_plan _qwf.planned[];
begin
  select r.* into v_run from qwf.runs r where r.id = retry_plan.run_id;
  if not found then
    perform _qwf.raise_no_such_run(retry_plan.run_id);
  end if;
  perform _qwf.check_retry(v_run, retry_plan.from_node, retry_plan.completed);
  perform _qwf.notice_versions(v_run, coalesce(retry_plan.latest, false));
  v_graph := case when retry_plan.latest then _qwf.graph_for(v_run.workflow)
    else v_run.graph_id end;
  perform _qwf.check_mending(v_run, v_graph, retry_plan.context, retry_plan.from_node,
    retry_plan.completed);
  v_plan := array(
    select p from _qwf.plan_retry(v_run, v_graph,
      v_run.context || coalesce(retry_plan.context, '{}'), retry_plan.from_node,
      retry_plan.completed) p);
  if retry_plan.completed is not null then
    perform _qwf.check_completed(v_run.id, v_plan, retry_plan.completed);
  end if;
  perform _qwf.refuse_below(v_run.id, v_plan, retry_plan.from_node);
  perform _qwf.notice_clean_up(v_run, array(
    select p.job_id from unnest(v_plan) p where p.verdict = 'runs again'));
  return query
    select p.node_id, p.verdict, p.because || coalesce('; it may have run' || m.which, '')
    from unnest(v_plan) with ordinality p
    left join (
      select u.named, case
          when count(*) = 1 and min(u.node_id) = u.named then ''
          else ': ' || array_to_string((array_agg(u.node_id))[:5], ', ') end
        || case when count(*) > 5 then format(' and %s more', count(*) - 5) else '' end as which
      from _qwf.maybe_run(v_plan, retry_plan.from_node) u group by u.named) m on m.named = p.node_id
    order by p.ordinality;
end $$;
comment on function qwf.retry_plan is
  'The plan of retry_run with the same arguments, a row for each node: reused, runs again, new or '
  'removed, and why; with completed => compensate, also what runs first. It changes nothing. '
  'QW001 no such run or node, QW002 not over or erased, QW003 the current definitions do not fit, '
  'QW005 the context does not fit or completed is not needed.';
call _qwf.allow('qwf.retry_plan', 'qwf_producer', 'qwf_viewer');

commit;
