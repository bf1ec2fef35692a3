-- Deploy qwf:functions/_resolution_error
-- requires: schema/qwf
-- Purpose: The error of a node whose references gave no usable value, with its SQLSTATE in front.
-- Guarantees: QW005 for a value that was found but breaks its schema, QW004 for all else.
-- Called by: _insert_elements, _open_guarded, _resolve_picked.

begin;

create function qwf._resolution_error(p_error text) returns text
language sql immutable strict
as $$
  select case when p_error like 'invalid%' then 'QW005: ' else 'QW004: ' end || p_error
$$;
comment on function qwf._resolution_error(text) is
  'Error text of a failed node: QW005 for an invalid value, QW004 for an unresolvable reference.';
revoke all on function qwf._resolution_error(text) from public;

commit;
