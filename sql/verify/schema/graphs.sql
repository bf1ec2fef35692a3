-- Verify qwf:schema/graphs

begin;

select id, workflow_id, pipeline_ids, node_count, context_checks, deadline, created_at from qwf.graphs where false;
select graph_id, idx, node_id, step_id, pipeline, task, queue, dep_count, inputs, skip_if, input_spec, has_refs, ref_nodes, ref_files, required_model, light, vram_mb, requires, limit_by, on_failure, run_if, map, max_parallel, min_success, max_attempts, max_losses, backoff, timeout, stall_timeout from qwf.graph_nodes where false;
select graph_id, from_idx, to_idx from qwf.graph_edges where false;

rollback;
