-- Deploy qwf:views/jobs/file_overview
-- Purpose: The files that jobs have left, and where they are.
-- Guarantees: Who does not read columns of the job, the run or the box does not pay for them.

begin;

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

commit;
