-- Deploy qwf:functions/usual/_learn_runs
-- Purpose: Adds the runs that ended, and their nodes, to what is usual: the events run_ended with
--   a number above the last that was learned.
-- Guarantees: Each event counts once, also after a crash: the last number moves in the same
--   transaction. Looks at p_max events. A run counts without the time that it waited for answers;
--   only those that completed count for what is usual. Returns the bound if it has reached it.
-- Locks: the row of _qwf.judged; while another transaction has it, it does nothing.
-- Called by: _tick_part.

begin;

create function _qwf.learn_runs(p_max int default 2000) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_from bigint;
  v_last bigint;
  v_count int;
  v_ended _qwf.past_run[];
begin
  select g.learned_seq into v_from from _qwf.judged g for no key update skip locked;
  if not found then
    return 0;
  end if;
  with seen as materialized (
    select e.seq, e.kind, e.run_id, e.subject, e.at, e.detail
    from _qwf.event_log e where e.seq > v_from order by e.seq limit p_max
  )
  select max(s.seq), count(*), array_agg((
      s.subject, s.run_id, s.at, s.detail ->> 'status', t.seconds - case when exists (
          select from _qwf.event_log a where a.run_id = s.run_id and a.kind = 'question_asked')
        then least(t.seconds,  -- a call for each run takes nine tenths of the time
          _qwf.asked_seconds(s.run_id, s.at - t.seconds * interval '1 s', s.at))
        else 0 end)::_qwf.past_run
    order by s.seq) filter (where s.kind = 'run_ended' and s.subject is not null)
  into v_last, v_count, v_ended
  from seen s
  cross join lateral (
    select greatest(_qwf.as_number(s.detail -> 'seconds'), 0)::real as seconds
    where s.kind = 'run_ended' union all select null where s.kind <> 'run_ended') t;
  if v_last is null then
    return 0;
  end if;
  update _qwf.judged g set learned_seq = v_last;
  perform _qwf.add_totals(v_from, v_last, v_ended);
  perform _qwf.merge_usual(array_agg(w.row), 60)
  from (
    select ('run', e.workflow, '',
      _qwf.histogram(array_agg(e.seconds)
        filter (where e.status = 'completed' and e.seconds is not null)),
      max(e.seconds) filter (where e.status = 'completed'),
      max(e.at) filter (where e.status = 'completed'),
      max(e.at), (array_agg(e.status order by e.place desc))[1],
      (array_agg(e.seconds order by e.place desc))[1],
      jsonb_agg(jsonb_build_object('run', e.run_id, 'status', e.status, 'seconds', e.seconds,
        'at', e.at) order by e.place desc))::_qwf.usual_new as row
    from (
      select x.* from unnest(v_ended)
        with ordinality x (workflow, run_id, at, status, seconds, place)) e
    group by e.workflow) w;
  perform _qwf.learn_nodes(v_ended);
  return v_count;
end $$;

commit;
