create temp table who as
select qwf.register_worker('box', 'gpu', '{"slots": 4, "models": ["flux", "sam"], "tasks": ["draw"],
  "vram_mb": 24000, "labels": {"disk": "fast"}, "rank": -1, "project": "red"}') as id;
create temp table announced as
select slots, models, tasks, vram_mb, labels, rank, project, version from qwf.workers;
select qwf.heartbeat(id, stats => '{"current_model": "flux", "models": [], "slots": 1,
  "vram_mb": 0, "busy": 1}') from who;
select results_eq('select slots, models, tasks, vram_mb, labels, rank, project, version
  from qwf.workers', 'select * from announced', 'whatever model it reports now');
