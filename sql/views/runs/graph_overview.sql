-- Deploy qwf:views/runs/graph_overview
-- Purpose: The graphs that are compiled, and for which versions.
-- Guarantees: One row a graph. A graph never changes; whether it is current may.
-- Called by: people, qwf web.

begin;

create view qwf.graph_overview as
select
  g.id, w.name as workflow, w.version, g.node_count as nodes, g.pipeline_ids = array(
    select p.id from qwf.pipelines p
    where p.name = any (w.pipeline_names) and p.current
    order by p.name collate "C") as current, g.created_at
from qwf.graphs g
join qwf.workflows w on w.id = g.workflow_id;
comment on view qwf.graph_overview is
  'Graphs that runs execute, as they were compiled: select qwf.workflow_graph(graph_id => id) from '
  'qwf.graph_overview where workflow = ''w'' and current order by version desc limit 1.';
comment on column qwf.graph_overview.id is 'Graph id; graph_id of runs and jobs.';
comment on column qwf.graph_overview.workflow is 'Workflow it was compiled from.';
comment on column qwf.graph_overview.version is 'Version of the workflow.';
comment on column qwf.graph_overview.nodes is 'Number of nodes.';
comment on column qwf.graph_overview.current is
  'True if a run of this version that begins now executes it, or one that is equal: it was '
  'compiled with the pipelines that are current.';
comment on column qwf.graph_overview.created_at is 'When it was compiled.';

commit;
