-- Deploy qwf:functions/invariants/_event_invariants
-- Purpose: Returns violated invariants of the numbers of events.
-- Called by: check_invariants.

begin;

create function _qwf.event_invariants() returns table (invariant text, subject text, detail text)
language sql stable
as $$
  with numbered as (
    select e.seq, e.kind, lag(e.seq, 1, n.first_seq - 1) over (order by e.seq) as before
    from _qwf.event_log e cross join _qwf.event_numbers n
    where e.seq is not null
  ), ends as (
    select n.last_seq, n.first_seq, coalesce(max(e.seq), n.first_seq - 1) as last
    from _qwf.event_numbers n left join _qwf.event_log e on e.seq is not null
    group by n.last_seq, n.first_seq
  )
  select 'events are numbered without a gap', 'event ' || n.seq,
    format('the one before it that is kept is %s', n.before)
  from numbered n
  where n.seq <> n.before + 1
    and not (n.kind = 'events_restarted' and n.seq = n.before + 1000000)
  union all
  select 'the last event has the last number', 'event ' || e.last, format('%s', e.last_seq)
  from ends e where e.last <> e.last_seq
$$;

commit;
