-- Deploy qwf:functions/mending/_names_compensation
-- Purpose: True if this is a compensation node of a run: a retry from there takes back again.
-- Called by: _mend_run, _plan_retry, _refuse_compensation.

begin;

create function _qwf.names_compensation(p_run qwf.runs, p_node text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from qwf.graph_nodes n
    where n.graph_id = p_run.graph_id and n.node_id = p_node and n.compensates is not null)
$$;

commit;
