-- Verify qwf:schema/runs

begin;

select id, graph_id, workflow, workflow_version, status, project, key, once, priority, context, labels, out_dir, node_count, open_nodes, active_nodes, waiting_nodes, failed_nodes, ending, error, run_at, deadline_at, created_at, started_at, finished_at from qwf.runs where false;

rollback;
