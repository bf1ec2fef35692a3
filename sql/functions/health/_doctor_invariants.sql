-- Deploy qwf:functions/health/_doctor_invariants
-- Purpose: Finds broken promises of the engine.
-- Called by: _doctor_findings.

begin;

create function _qwf.doctor_invariants() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select * from _qwf.first_few(array(
    select row('problem', i.subject,
      format('%s: %s, %s', i.invariant, i.subject, _qwf.one_line(i.detail)),
      'this is a bug in qwf, or someone wrote to its tables: report it')::_qwf.finding
    from qwf.check_invariants() i));
end $$;

commit;
