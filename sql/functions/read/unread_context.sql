-- Deploy qwf:functions/read/unread_context
-- Purpose: Returns the keys of a context that the workflow of a run does not read and that look
--   like some that it reads and that are missing.
-- Guarantees: Only a look. A key that is like nothing is not returned: it may be for people.
-- Raises: QW001 for an unknown run, QW005 for a context that is not an object or too large.
-- Called by: producers in Python, qwf run.

begin;

create function qwf.unread_context(run_id bigint, context jsonb) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  v_graph bigint;
  v_read jsonb[];
begin
  select r.graph_id into v_graph from qwf.runs r where r.id = unread_context.run_id;
  if not found then
    perform _qwf.raise_no_such_run(unread_context.run_id);
  end if;
  perform _qwf.check_json('context', unread_context.context, s.max_value_bytes)
  from qwf.settings s;
  if jsonb_typeof(unread_context.context) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid context',
      detail = format('context %s', _qwf.excerpt(unread_context.context)),
      hint = 'give the JSON object that the run was started with';
  end if;
  v_read := array(
    select distinct p.path - 0
    from qwf.graphs g
    left join qwf.graph_nodes n on n.graph_id = g.id
    cross join lateral jsonb_path_query(
      jsonb_build_array(g.context_checks, to_jsonb(n)), 'strict $.**."$from"') p (path)
    where g.id = v_graph and p.path ->> 0 = '$context');
  return (
    select coalesce(jsonb_object_agg(u.path, u.meant), '{}')
    from _qwf.unread_keys(unread_context.context, v_read, '') u);
end $$;
comment on function qwf.unread_context is
  'Keys of the context that the workflow of the run does not read, each with the missing key that '
  'was probably meant; {} if nothing looks misspelt. QW001: no such run; QW005: the context is no '
  'object.';
call _qwf.allow('qwf.unread_context', 'qwf_producer', 'qwf_viewer');

commit;
