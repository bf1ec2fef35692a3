-- Deploy qwf:functions/references/_files_in_scope
-- Purpose: Returns the files of steps or nodes as the references of a node see them.
-- Called by: _scope.

begin;

create function _qwf.files_in_scope(p_run_id bigint, p_files text[]) returns jsonb
language sql stable
as $$
  select jsonb_build_object('$files', (
    select jsonb_object_agg(k.key, (
      select coalesce(jsonb_agg(jsonb_build_object(
        'rel_path', f.rel_path, 'kind', f.kind, 'size_bytes', f.size_bytes, 'host', f.host,
        'path', f.path)
        order by f.rel_path), '[]')
      from qwf.file_overview f
      where f.run_id = p_run_id and f.completed and (
        f.node_id = k.key or f.node_id ^@ (k.key || '/') or f.node_id ^@ (k.key || '['))))
    from unnest(p_files) k (key)))
$$;

commit;
