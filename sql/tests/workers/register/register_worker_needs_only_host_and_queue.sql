create temp table me as select qwf.register_worker('box', 'cpu') as id;
select results_eq('select slots, tasks, models, vram_mb, labels, rank, project from qwf.workers', $$
  values (1, null::text[], null::text[], null::int, '{"host": "box"}'::jsonb, 0, null::text)
$$, 'what info leaves out is null');
