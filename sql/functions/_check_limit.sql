-- Deploy qwf:functions/_check_limit
-- requires: schema/limits
-- Purpose: Refuses the name of a limit that there is not: nothing could ever run under it.
-- Raises: QW001.
-- Called by: _check_job.

begin;

create function qwf._check_limit(p_where text, p_name text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_name ^@ 'queue:'
    or p_name is not null and not exists (select from qwf.limits l where l.name = p_name) then
    raise exception using errcode = 'QW001', message = 'no such limit',
      detail = format('%slimit_by: %L', p_where, p_name),
      hint = 'let an administrator create it: select qwf.create_limit(''name'', 2)';
  end if;
end $$;
comment on function qwf._check_limit(text, text) is
  'Raises QW001 where there is no limit of that name; null passes.';
revoke all on function qwf._check_limit(text, text) from public;

commit;
