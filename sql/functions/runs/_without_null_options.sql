-- Deploy qwf:functions/runs/_without_null_options
-- Purpose: Returns a question without the nulls among its options: an element of a map that failed
--   or was skipped is nothing to choose.
-- Guarantees: Options that the definition itself lists stay as they are; so does a source that is
--   only to look at.
-- Called by: _open_guarded.

begin;

create function _qwf.without_null_options(p_written jsonb, p_question jsonb) returns jsonb
language sql immutable
as $$
  select p_question || coalesce(jsonb_object_agg(
    m.key, jsonb_path_query_array(m.value, 'strict $[*] ? (@.type() != "null")')), '{}')
  from jsonb_each(p_question) m
  where jsonb_typeof(m.value) = 'array'
    and jsonb_typeof(p_written -> m.key) is distinct from 'array'
    and (m.key = 'options'
      or m.key = 'source' and p_question ->> 'widget' in ('choose_one', 'turnout')
        and jsonb_typeof(p_question -> 'options') is distinct from 'array')
$$;

commit;
