-- Deploy qwf:functions/json_schema/_member_path
-- Purpose: Returns the path of a member of an object, so that a program can split it again.
-- Guarantees: A key with a dot, a colon, a quote, a bracket, a backslash, white space or a control
--   character, or without a character, is written as ["key"], escaped as in JSON. A key of more
--   than 200 characters is cut.
-- Called by: _violations.

begin;

create function _qwf.member_path(p_path text, p_key text) returns text
language sql immutable parallel safe
return p_path || case
  when left(p_key, 200) ~ e'[].:"[\\\\[:space:][:cntrl:]]' or p_key = ''
    then format('[%s]', to_json(left(p_key, 200)))
  else '.' || left(p_key, 200) end;

commit;
