-- Deploy qwf:functions/references/resolve
-- Purpose: Resolves the references of a value against a scope, by the rules of docs/references.md.
-- Raises: QW005 for a value or a scope that is too large or nested too deeply; QW004 when a
--   reference is unresolvable, malformed or meets a value of the wrong kind.
-- Called by: people who test a reference, and tests.

begin;

create function qwf.resolve(value jsonb, scope jsonb) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_result _qwf.resolution;
begin
  perform _qwf.check_json('value', resolve.value, s.max_value_bytes),
    _qwf.check_json('scope', resolve.scope, s.max_value_bytes)
  from qwf.settings s;
  v_result := _qwf.resolve(resolve.value, resolve.scope);
  if v_result.error is not null then
    raise exception using
      errcode = 'QW004',
      message = 'reference cannot be resolved',
      detail = v_result.error,
      hint = 'check what the scope contains, or give the reference a "$default"';
  end if;
  return v_result.value;
end $$;

comment on function qwf.resolve is
  'Returns value with every reference replaced by what it finds in scope; raises QW004 and names '
  'the reference that cannot be resolved.';
call _qwf.allow('qwf.resolve', 'qwf_producer', 'qwf_worker', 'qwf_viewer');

commit;
