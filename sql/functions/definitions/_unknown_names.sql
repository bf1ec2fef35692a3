-- Deploy qwf:functions/definitions/_unknown_names
-- Purpose: Reports queues and limits that a node names and that do not exist: its jobs would wait
--   forever.
-- Guarantees: Paths start at the node. The limit that belongs to a queue cannot be named.
-- Called by: _node_rules.

begin;

create function _qwf.unknown_names(p_node jsonb) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select '.queue', format('there is no queue "%s"', p_node ->> 'queue'), coalesce(
      _qwf.did_you_mean(p_node ->> 'queue', array(select q.name from qwf.queues q)),
      'ask an administrator to create it: select qwf.create_queue(''name'')')
    where jsonb_typeof(p_node -> 'queue') = 'string'
      and not exists (select from qwf.queues q where q.name = p_node ->> 'queue')
    union all
    select '.queue', 'names that begin with qwf. belong to the engine', null
    where starts_with(p_node ->> 'queue', 'qwf.')
    union all
    select '.limit_by', format('there is no limit "%s"', p_node ->> 'limit_by'), coalesce(
      _qwf.did_you_mean(p_node ->> 'limit_by', array(
        select l.name from qwf.limits l where not starts_with(l.name, 'queue:'))),
      'ask an administrator to create it: select qwf.create_limit(''name'', max_running => 2)')
    where jsonb_typeof(p_node -> 'limit_by') = 'string'
      and not _qwf.names_key(p_node ->> 'limit_by')
      and not exists (
        select from qwf.limits l
        where l.name = p_node ->> 'limit_by'
          and not starts_with(l.name, 'queue:'))
    union all
    select '.limit_by', format('limit "%s" counts by key', p_node ->> 'limit_by'),
      format('write %s:KEY', p_node ->> 'limit_by')
    where exists (select from qwf.limits l where l.name = p_node ->> 'limit_by' and l.keyed);
end $$;

commit;
