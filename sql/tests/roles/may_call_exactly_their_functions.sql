begin;
select plan(2);

create temp table allowed (name, roles) as values
  ('register_pipeline', '{}'::text[]), ('register_workflow', '{}'), ('create_queue', '{}'),
  ('set_alert', '{}'), ('test_alert', '{}'),
  ('enqueue', '{qwf_producer}'), ('enqueue_many', '{qwf_producer}'),
    ('enqueue_run', '{qwf_producer}'),
  ('cancel_run', '{qwf_producer}'), ('cancel_job', '{qwf_producer}'),
    ('cancel_jobs', '{qwf_producer}'), ('retry_jobs', '{qwf_producer}'),
    ('cancel_runs', '{qwf_producer}'), ('signal', '{qwf_producer}'),
    ('retry_runs', '{qwf_producer}'),
    ('submit_input', '{qwf_producer}'), ('answer_job', '{qwf_producer}'),
  ('ended', '{qwf_producer,qwf_viewer}'), ('result', '{qwf_producer,qwf_viewer}'),
    ('run_status', '{qwf_producer,qwf_viewer}'),
    ('run_graph', '{qwf_producer,qwf_viewer}'), ('workflow_graph', '{qwf_viewer}'),
    ('check_invariants', '{qwf_viewer}'),
    ('doctor', '{qwf_viewer}'), ('losses', '{qwf_viewer}'),
  ('claim', '{qwf_worker}'), ('heartbeat', '{qwf_worker}'), ('progress', '{qwf_worker}'),
    ('finish', '{qwf_worker}'), ('after_failures', '{qwf_worker}'),
    ('report_event', '{qwf_worker}'), ('begin_generation', '{}'),
  ('finish_many', '{qwf_worker}'), ('finish_and_claim', '{qwf_worker}'),
    ('drain_outbox', '{qwf_worker}'),
  ('tick', '{qwf_worker}'), ('register_worker', '{qwf_worker}'), ('update_worker', '{qwf_worker}'),
  ('deregister_worker', '{qwf_worker}'), ('agent_settings', '{qwf_worker}'),
    ('sleep', '{qwf_worker}'), ('stay_asleep', '{qwf_worker}'),
  ('wake', '{qwf_worker}'), ('echo', '{qwf_worker}'), ('wake_channel', '{qwf_worker}'),
  ('change_job', '{qwf_producer}'), ('change_jobs', '{qwf_producer}'),
    ('retry_job', '{qwf_producer}'),
  ('retry_plan', '{qwf_producer,qwf_viewer}'), ('retry_run', '{qwf_producer}'),
  ('create_schedule', '{}'), ('drop_schedule', '{}'), ('enable_schedule', '{}'),
    ('fire_schedule', '{}'), ('backfill', '{}'), ('due_times', '{qwf_viewer}'),
  ('prune', '{qwf_worker}'),
  ('worker_control', '{}'), ('forget_host', '{}'),
    ('follow_log', '{qwf_producer,qwf_viewer}'), ('followed_logs', '{qwf_worker}'),
    ('report_log', '{qwf_worker}'), ('read_log', '{qwf_producer,qwf_viewer}'),
    ('worker_orders', '{qwf_worker}'), ('configure_server', '{}'),
    ('report_broken_server', '{qwf_worker}'), ('withdraw_worker', '{qwf_worker}'),
    ('worker_alive', '{qwf_worker,qwf_viewer}'),
  ('request_model', '{}'), ('take_model_requests', '{qwf_worker}'),
    ('answer_model_request', '{qwf_worker}'), ('report_metrics', '{qwf_worker}'),
  ('pause_queue', '{}'), ('resume_queue', '{}'),
    ('create_limit', '{}'), ('drop_limit', '{}'),
    ('hold_limit', '{qwf_producer,qwf_worker}'), ('erase', '{}'), ('change_settings', '{}'),
  ('why_not', '{qwf_producer,qwf_viewer}'), ('context_notes', '{qwf_producer,qwf_viewer}'),
  ('count_jobs', '{qwf_viewer}'), ('busiest_keys', '{qwf_viewer}'),
    ('first_in_line', '{qwf_viewer}'),
    ('find_jobs', '{qwf_viewer}'), ('find_runs', '{qwf_viewer}'),
  ('find_unassignable', '{qwf_viewer}'),
    ('find_missing_options', '{qwf_viewer}'),
  ('find_inputs', '{qwf_viewer}'), ('open_questions', '{qwf_producer,qwf_viewer}'),
    ('failure_groups', '{qwf_viewer}'), ('mark_failures', '{qwf_producer}'),
  ('version', '{qwf_producer,qwf_worker,qwf_viewer}'),
    ('secret_keys', '{qwf_producer,qwf_worker,qwf_viewer}'),
    ('now', '{qwf_producer,qwf_worker,qwf_viewer}');
create temp table role (name) as values ('qwf_admin'), ('qwf_producer'), ('qwf_worker'),
  ('qwf_viewer');
create temp view may as
select p.proname::text as name, r.name as role
from pg_proc p, role r
where p.pronamespace = 'qwf'::regnamespace
  and has_function_privilege(r.name, p.oid, 'execute') and p.proname <> 'resolve';
select set_eq($$ select name, role from may where role <> 'qwf_admin' $$,
  'select name, unnest(roles) from allowed', 'each role its own, and nothing else');
select set_eq($$ select name from may where role = 'qwf_admin' $$, 'select name from allowed',
  'an administrator all');

select * from finish();
rollback;
