-- Deploy qwf:views/runs/usual
-- Purpose: How long runs, nodes and tasks usually take, how the last ones ended, and after which
--   time one is late.
-- Guarantees: One row read for each; as fast with a million runs as with ten. Behind by a tick; of
--   tasks by the time between two roll-ups, ten seconds.

begin;

create view qwf.usual as
select
  u.kind, u.name, u.node, u.runs, u.p50, u.p90, u.p95, u.longest, u.last_at, u.last_status,
  u.last_seconds, u.last_success,
  _qwf.late_after(w.definition -> 'expect' -> 'takes', u.runs, u.p95) as late_after,
  u.last
from qwf.usual_times u
left join qwf.workflows w on u.kind = 'run' and w.name = u.name and w.current;
comment on view qwf.usual is
  'How long it usually takes: '
  'select name, p50, p95, late_after from qwf.usual where kind = ''run''.';
comment on column qwf.usual.kind is
  'run (of a workflow), node (of a workflow) or task (its jobs, nodes of runs included).';
comment on column qwf.usual.name is 'The workflow, or the task.';
comment on column qwf.usual.node is 'The node; empty: a run or a task.';
comment on column qwf.usual.runs is
  'How many completed ones the times are from: those of the last 14 to 28 days.';
comment on column qwf.usual.p50 is 'Half of them took less, seconds; within a tenth.';
comment on column qwf.usual.p90 is 'Nine of ten took less, seconds; within a tenth.';
comment on column qwf.usual.p95 is '19 of 20 took less, seconds; within a tenth.';
comment on column qwf.usual.longest is 'The longest that was ever seen, seconds.';
comment on column qwf.usual.last_at is 'When the last one ended.';
comment on column qwf.usual.last_status is 'How it ended.';
comment on column qwf.usual.last_seconds is
  'How long it took; of a run without the time that it waited for answers.';
comment on column qwf.usual.last_success is 'When one last completed; null: none has.';
comment on column qwf.usual.late_after is
  'After how many seconds a run or job is late: as declared (expect.takes), else learned from 10 '
  'that completed; null: not known yet. Only runs and standalone jobs are judged.';
comment on column qwf.usual.last is
  'The last 60 runs, of a node the last 30, the newest first: a list of '
  '{run, status, seconds, at}. Empty for a task.';

commit;
