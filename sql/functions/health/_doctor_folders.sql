-- Deploy qwf:functions/health/_doctor_folders
-- Purpose: Finds folders of jobs that held the files of others.
-- Guarantees: Reads the newest 10,000 events: no index is by kind, and there may be millions.
-- Called by: _doctor_findings.

begin;

create function _qwf.doctor_folders() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select 'note', null, format('%s folders that jobs got in the last day held the files of others, '
      'and were moved aside, such as to %s', m.moved, m.example),
    'after a restore from a backup this is normal, if qwf migrate restored was run; if it was '
    'not, stop the agents, and run: qwf migrate restored. It is also normal for a job that was '
    'retried with other inputs, and for a map that ran again. See qwf.events, kind folder_moved'
  from (
    select count(*) as moved, max(e.detail ->> 'moved_to') as example
    from (select * from _qwf.event_log n order by n.id desc limit 10000) e
    where e.kind = 'folder_moved' and e.at > qwf.now() - interval '1 day') m
  where m.moved > 0;
end $$;

commit;
