-- Verify qwf:schema/history

begin;

select job_id, attempt, token, worker, queued_at, started_at, finished_at, outcome, reason, error, exit_code, signal, max_rss_bytes, cpu_seconds, gpu_peak_bytes, log_tail, usage from qwf.job_attempts where false;
select id, at, run_id, job_id, type, actor, detail from qwf.job_events where false;
select id, job_id, run_id, node_id, value, answered_by, answered_at from qwf.input_answers where false;
select job_id, file_no, rel_path, run_id, node_id, host, kind, size_bytes from qwf.run_files where false;

rollback;
