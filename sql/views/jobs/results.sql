-- Files, numbers and logs of jobs.

-- The files that jobs have left, and where they are. Who does not read columns of the job, the
-- run or the box does not pay for them.
create view qwf.file_overview as
select
  f.job_id, f.file_no, f.rel_path, f.run_id, f.node_id, f.host, f.kind, f.size_bytes,
  j.node_idx, j.task, j.attempt, coalesce(r.created_at, j.created_at) as created_at, r.out_dir,
  w.out_root, (select i.id::text from qwf.instance i) as instance, f.attempt as of_attempt,
  f.completed,
  case when starts_with(r.out_dir, '/') then rtrim(r.out_dir, '/')
    when not starts_with(coalesce(r.out_dir, ''), '~')
      then rtrim(w.out_root, '/') || coalesce('/' || nullif(btrim(r.out_dir, '/'), ''), '') end
    || '/' || coalesce(f.run_id::text, 'jobs/' || f.job_id) || '/' || f.rel_path as path
from qwf.run_files f
left join qwf.jobs j on j.id = f.job_id
left join qwf.runs r on r.id = f.run_id
left join (
  select distinct on (n.host) n.host, n.out_root
  from qwf.workers n
  where n.out_root is not null
  order by n.host, n.last_seen desc
) w on w.host = f.host;
comment on view qwf.file_overview is
  'Files that jobs have left: select * from qwf.file_overview where run_id = 7.';
comment on column qwf.file_overview.job_id is 'The job.';
comment on column qwf.file_overview.file_no is 'Its position in the list of the job, from 1.';
comment on column qwf.file_overview.rel_path is
  'Path below the run''s folder (the job''s, for a standalone job).';
comment on column qwf.file_overview.run_id is 'Its run; null: standalone.';
comment on column qwf.file_overview.node_id is 'Its node.';
comment on column qwf.file_overview.host is 'Box that has the file.';
comment on column qwf.file_overview.kind is 'image, json, text, csv, mesh, pointcloud or file.';
comment on column qwf.file_overview.size_bytes is 'Size, bytes.';
comment on column qwf.file_overview.node_idx is
  'Its node in the graph; null for an element of a map.';
comment on column qwf.file_overview.task is 'Name of the task or program that a worker ran.';
comment on column qwf.file_overview.attempt is 'Claims of the job so far.';
comment on column qwf.file_overview.created_at is
  'When its run, or the standalone job, was enqueued.';
comment on column qwf.file_overview.out_dir is 'Folder that the run names; null: none.';
comment on column qwf.file_overview.out_root is
  'Folder in which the agents of the box write files of runs that name none; null: unknown.';
comment on column qwf.file_overview.instance is
  'Identity of this database, which the mark in the folder has.';
comment on column qwf.file_overview.of_attempt is
  'The attempt after which the file was there; an earlier one on the same box may have written it.';
comment on column qwf.file_overview.completed is
  'True: that attempt completed; false: it ended otherwise, and left the file.';
comment on column qwf.file_overview.path is
  'Absolute path on its box, below the out-root that the box has now; null: the box has not said '
  'where it writes, or the run names a folder of the agent''s user (~).';

-- The numbers that bodies track, a row for each attempt and name. Found by the job or its run by
-- an index. Who does not read columns of the job does not pay for them.
create view qwf.series_overview as
select
  s.job_id, s.attempt, s.run_id, j.node_id, j.node_idx, j.task, n.key as name,
  n.value -> 'points' as points,
  coalesce(_qwf.as_number(n.value -> 'reported', 1e15)::bigint,
    jsonb_array_length(n.value -> 'points')) as reported,
  n.value #> '{points,-1,0}' as last_step, n.value #> '{points,-1,1}' as last_value,
  s.at, s.left_out
from qwf.attempt_series s
cross join lateral jsonb_each(s.series) n
left join qwf.jobs j on j.id = s.job_id
where jsonb_typeof(n.value -> 'points') = 'array';
comment on view qwf.series_overview is
  'The numbers that bodies track: select * from qwf.series_overview where job_id = 7.';
comment on column qwf.series_overview.job_id is 'The job.';
comment on column qwf.series_overview.attempt is 'The attempt that tracked them.';
comment on column qwf.series_overview.run_id is 'Its run; null: standalone.';
comment on column qwf.series_overview.node_id is 'Its node.';
comment on column qwf.series_overview.node_idx is
  'Its node in the graph; null for an element of a map.';
comment on column qwf.series_overview.task is 'Name of the task or program that a worker ran.';
comment on column qwf.series_overview.name is 'The name of the number, such as loss.';
comment on column qwf.series_overview.points is
  'A list of [step, value], at most 500; a value that was not a number is null.';
comment on column qwf.series_overview.reported is
  'How many points the body tracked; if there are more than points has, it has some of them, as '
  'far apart as each other.';
comment on column qwf.series_overview.last_step is 'The step of the last point.';
comment on column qwf.series_overview.last_value is 'The value of the last point.';
comment on column qwf.series_overview.at is 'When it was reported last.';
comment on column qwf.series_overview.left_out is
  'How many other names the attempt tracked, which are not kept: at most 20 are.';

-- The ends of the logs that somebody follows, while their jobs run. Reads an unlogged table, so
-- a standby cannot answer.
create view qwf.live_log_overview as
select
  l.job_id, l.worker, l.attempt, l.end_offset, l.tail, l.followed_until,
  l.followed_until > clock.now as sent
from qwf.live_logs l
cross join (select qwf.now() as now) clock
join qwf.jobs j on j.id = l.job_id and j.attempt = l.attempt and j.status = 'running';
comment on view qwf.live_log_overview is
  'Logs of running jobs that somebody follows: select * from qwf.live_log_overview where job_id = '
  '7.';
comment on column qwf.live_log_overview.job_id is 'The job.';
comment on column qwf.live_log_overview.worker is 'Worker that was asked for the log.';
comment on column qwf.live_log_overview.attempt is 'Attempt that printed it.';
comment on column qwf.live_log_overview.end_offset is
  'Number of bytes that the attempt has printed up to the end of tail.';
comment on column qwf.live_log_overview.tail is 'The end of what the attempt has printed.';
comment on column qwf.live_log_overview.followed_until is
  'Until when the worker sends the log; followers extend it.';
comment on column qwf.live_log_overview.sent is 'True: the worker sends it now.';
