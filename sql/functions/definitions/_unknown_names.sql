-- Deploy qwf:functions/definitions/_unknown_names
-- Purpose: Reports a queue or a limit that a node names and that does not exist: its jobs would
--   wait forever.
-- Guarantees: The limit that belongs to a queue cannot be named.
-- Called by: _checked.

begin;

create function _qwf.unknown_names(p_kind text, p_name text, p_path text)
returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_kind = 'queue' then
    return query
      select p_path, format('there is no queue "%s"', p_name), coalesce(
        _qwf.did_you_mean(p_name, array(select q.name from qwf.queues q)),
        'ask an administrator to create it: select qwf.create_queue(''name'')')
      where not exists (select from qwf.queues q where q.name = p_name)
      union all
      select p_path, 'names that begin with qwf. belong to the engine', null
      where starts_with(p_name, 'qwf.');
  else
    return query
      select p_path, format('there is no limit "%s"', p_name), coalesce(
        _qwf.did_you_mean(p_name, array(
          select l.name from qwf.limits l where not starts_with(l.name, 'queue:'))),
        'ask an administrator to create it: select qwf.create_limit(''name'', max_running => 2)')
      where not _qwf.names_key(p_name)
        and not exists (
          select from qwf.limits l where l.name = p_name and not starts_with(l.name, 'queue:'))
      union all
      select p_path, format('limit "%s" counts by key', p_name), format('write %s:KEY', p_name)
      where exists (select from qwf.limits l where l.name = p_name and l.keyed);
  end if;
end $$;

commit;
