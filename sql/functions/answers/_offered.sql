-- Deploy qwf:functions/answers/_offered
-- Purpose: Returns the list of what may be chosen in a question; null if any answer may be given.
-- Called by: _answer_problems, _chosen, _compile_step.

begin;

create function _qwf.offered(p_spec jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when jsonb_typeof(p_spec -> 'options') = 'array' then p_spec -> 'options'
    when coalesce(p_spec ->> 'widget', '') not in ('choose_one', 'turnout', 'on_failure') then null
    when jsonb_typeof(p_spec -> 'source') = 'array' then p_spec -> 'source'
    else '[]' end
$$;

commit;
