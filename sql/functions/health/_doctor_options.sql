-- Deploy qwf:functions/health/_doctor_options
-- Purpose: Finds what lacks options that the code of its task declares.
-- Called by: _doctor_findings.

begin;

create function _qwf.doctor_options() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select * from _qwf.first_few(array(
    select row('note', m.kind || ' ' || min(m.name), m.kind || ' ' || min(m.name)
      || case when count(*) > 1 then format(' and %s more', count(*) - 1) else '' end
      || ': ' || m.says, m.hint)::_qwf.finding
    from qwf.find_missing_options() m
    group by m.kind, m.task, m.option, m.declared, m.says, m.hint
    order by m.task, m.option, m.kind));
end $$;

commit;
