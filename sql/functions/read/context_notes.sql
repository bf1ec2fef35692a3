-- Deploy qwf:functions/read/context_notes
-- Purpose: Returns what looks wrong in the context of a run that was enqueued: keys that nobody
--   reads and that look like missing ones, and missing keys that a step or node needs unless it is
--   skipped. And whether the run has another context: it had the same key and was there before.
-- Guarantees: Only a look. A key that is like nothing is not returned: it may be for people. A
--   missing key is returned only if the skip_if reads more than the context: else enqueue_run
--   decides.
-- Called by: producers in Python, qwf run.

begin;

create function qwf.context_notes(run_id bigint, context jsonb) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  v_graph bigint;
  v_other boolean;
  v_read jsonb[];
begin
  select r.graph_id, r.context is distinct from context_notes.context into v_graph, v_other
  from qwf.runs r where r.id = context_notes.run_id;
  if not found then
    perform _qwf.raise_no_such_run(context_notes.run_id);
  end if;
  perform _qwf.check_json('context', context_notes.context, s.max_value_bytes)
  from qwf.settings s;
  if jsonb_typeof(context_notes.context) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid context',
      detail = format('context %s', _qwf.excerpt(context_notes.context)),
      hint = 'give the JSON object that the run was started with';
  end if;
  v_read := array(
    select distinct p.path - 0
    from qwf.graphs g
    left join qwf.graph_nodes n on n.graph_id = g.id
    cross join lateral jsonb_path_query(
      jsonb_build_array(g.context_checks, to_jsonb(n)), 'strict $.**."$from"') p (path)
    where g.id = v_graph and p.path ->> 0 = '$context');
  return jsonb_build_object(
    'unused', v_other,
    'unread', (
      select coalesce(jsonb_object_agg(u.path, u.meant), '{}')
      from _qwf.unread_keys(context_notes.context, v_read, '') u),
    'needed', (
      select coalesce(jsonb_object_agg(m.path, m.reader), '{}')
      from (
        select array_to_string(p.path, '.') as path, min(split_part(c ->> 'path', '.', 1)) as reader
        from qwf.graphs g
        cross join lateral jsonb_array_elements(g.context_checks) c
        cross join lateral (select array(select jsonb_array_elements_text(c -> 'needs'))) p (path)
        where g.id = v_graph and c ? 'later' and context_notes.context #> p.path is null
        group by 1) m));
end $$;
comment on function qwf.context_notes is
  'Doubtful parts of the context of a run: "unused" is true if the run has another context, '
  'because it was there before and has the same key; "unread" has the keys that its workflow does '
  'not read, each with the missing key that was probably meant; "needed" has the missing '
  'keys that a step or node needs unless it is skipped, each with its name. QW001: no such run; '
  'QW005: the context is not an object.';
call _qwf.allow('qwf.context_notes', 'qwf_producer', 'qwf_viewer');

commit;
