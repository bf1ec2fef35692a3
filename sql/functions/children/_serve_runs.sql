-- Deploy qwf:functions/children/_serve_runs
-- Purpose: Starts runs that wait on the queue qwf.runs, in claim order and as the limits allow.
-- Guarantees: Bounded: it stops after p_nodes rows of nodes or 300 ms, with at least one run. What
--   was picked beyond that is only locked, and stays queued. New runs start together. If that
--   fails, or the job had a run before, each starts in a subtransaction of its own: a bad one ends
--   alone, and a run in line that cannot go on fails. Does nothing inside itself: what starts while
--   it runs may queue runs, which the loop picks. Returns 100 or more only if there may be more.
-- Locks: permits of limits, queued jobs, runs above that have not started, if they are free; then
--   as _report_runs.
-- Notifies: sleepers of the queues of the first nodes.
-- Called by: _apply_events, _tick_part.

begin;

create function _qwf.serve_runs(p_nodes int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_began constant timestamptz := qwf.now();
  v_full boolean;  -- the bound is reached
  v_now timestamptz;
  v_terms _qwf.claim_terms;
  v_pick _qwf.special_pick;
  v_nodes _qwf.nodes_read;
  v_rest _qwf.picked[];
  v_new _qwf.started_children;
  v_served _qwf.served;
  v_taken _qwf.picked[];
  v_runs bigint[];
  v_spent int := 0;
  v_count int := 0;
  v_secret bytea := uuid_send(gen_random_uuid());
begin
  if current_setting('qwf.serving', true) = pg_current_xact_id()::text then return 0; end if;
  perform set_config('qwf.serving', pg_current_xact_id()::text, true);
  loop
    perform set_config('qwf.runs_due', '', true);
    v_now := qwf.now();
    select q.paused, false, q.max_running, null, null,  -- as claim reads them
      (select true from qwf.jobs j
        where j.queue = q.name and j.status = 'queued' and j.limit_by is not null
          and j.limit_place is null limit 1),
      (select true from qwf.jobs j
        where _qwf.line_of(j) = q.name and j.limit_place is not null
          and j.status in ('queued', 'running') limit 1),
      false, false, null
      into v_terms
    from qwf.queues q where q.name = 'qwf.runs';
    exit when v_terms.closed;
    v_pick := _qwf.pick_special('qwf.runs', v_terms, v_now, 10, false, 10);
    exit when coalesce(v_pick.jobs, '{}') = '{}';
    v_now := qwf.now();  -- again: a picked job may have been queued since the first reading
    v_nodes := _qwf.resolve_inputs(v_pick.jobs, 'qwf.engine', v_now);
    v_rest := v_nodes.jobs;
    v_runs := '{}';
    while v_rest <> '{}' and v_spent < p_nodes loop
      v_new := _qwf.start_children(v_rest, p_nodes - v_spent, v_secret, v_now);
      v_runs := v_runs || v_new.runs;
      if v_new.count = 0 then
        v_served := _qwf.serve_run(v_rest[1], v_secret, v_now);
        v_new := (1, v_served.nodes, null);
        v_runs := v_runs || v_served.run_id;
        perform _qwf.end_attempts(
          array[(j.id, j.token, 'fatal', null, v_served.error, '{}')::_qwf.report])
        from qwf.jobs j where j.id = v_rest[1].id and v_served.error is not null;
        perform _qwf.end_run(r.id, 'failed', v_served.error, true)  -- it waited in line
        from qwf.runs r join qwf.jobs j on j.id = r.parent_id
        where j.id = v_rest[1].id and j.run_id is null and v_served.error is not null;
      end if;
      v_spent := v_spent + v_new.nodes;
      v_rest := v_rest[v_new.count + 1 :];
    end loop;
    v_taken := v_nodes.jobs[: cardinality(v_nodes.jobs) - cardinality(v_rest)];
    v_count := v_count + cardinality(v_taken);
    perform _qwf.start_runs(array(select t.run_id from unnest(v_taken) t), v_now)
    where v_nodes.runs is not null;
    if v_pick.limited then perform _qwf.use_permits(v_pick, v_taken, v_now); end if;
    perform _qwf.report_runs(v_runs);
    v_full := v_spent >= p_nodes or qwf.now() - v_began > interval '300 ms';
    exit when v_full  -- or none is left, and none was queued meanwhile
      or cardinality(v_pick.jobs) < 10 and current_setting('qwf.runs_due') = '';
  end loop;
  perform set_config('qwf.serving', '', true);
  return case when v_full then greatest(v_count, 100) else least(v_count, 99) end;
end $$;

commit;
