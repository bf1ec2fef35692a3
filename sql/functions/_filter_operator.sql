-- Deploy qwf:functions/_filter_operator
-- requires: schema/qwf
-- Purpose: Operator and field of one $filter key, as {operator, field}.
-- Guarantees: eq:field and matches:field are looked at first, then field:eq and field:matches; null for anything else.
-- Called by: _malformed_filter, _filter.

begin;

create function qwf._filter_operator(p_key text) returns text[]
language sql immutable parallel safe
return coalesce(
  regexp_match(p_key, '^(eq|matches):(.+)$'),
  (select array[m[2], m[1]] from regexp_match(p_key, '^(.+):(eq|matches)$') m where m is not null));

comment on function qwf._filter_operator(text) is
  'Operator (eq or matches) and field that a $filter key names; null when it is none.';
revoke all on function qwf._filter_operator(text) from public;

commit;
