select qwf_test.set_now('2030-01-01');
create temp table me as select qwf.register_worker('box', 'gpu', '{
  "pid": 77, "version": "0.1.0", "slots": 4, "tasks": ["a", "b"], "models": ["flux"],
    "current_model": "flux",
  "vram_mb": 24000, "labels": {"disk": "nvme"}, "rank": -1, "project": "p",
    "out_root": "/srv/out"}') as id;
select results_eq($$
  select host, queue, pid, version, slots, tasks, models, current_model, vram_mb, labels, rank,
    project, out_root, started_at,
    last_seen, stopped_at
  from qwf.workers where id = (select id from me)
$$, $$
  values ('box', 'gpu', 77, '0.1.0', 4, '{a,b}'::text[], '{flux}'::text[], 'flux', 24000,
    '{"disk": "nvme", "host": "box"}'::jsonb, -1, 'p', '/srv/out', '2030-01-01'::timestamptz,
      '2030-01-01'::timestamptz,
    null::timestamptz)
$$, 'a row for this registration');
