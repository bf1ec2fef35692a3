-- Deploy qwf:functions/json_schema/_member_path
-- Purpose: Returns the path of a member of an object, so that a program can split it again.
-- Guarantees: A key with a dot, a colon, a quote, a bracket, a backslash, white space or a control
--   character, or without a character, is written as ["key"], escaped as in JSON.
-- Called by: _schema_problems.

begin;

create function _qwf.member_path(p_path text, p_key text) returns text
language sql immutable parallel safe
return p_path || case
  when p_key ~ e'[].:"[\\\\[:space:][:cntrl:]]' or p_key = '' then format('[%s]', to_json(p_key))
  else '.' || p_key end;

commit;
