-- 2 tests
select qwf.enqueue('plain'), qwf.enqueue('small', vram_mb => 8000),
  qwf.enqueue('large', vram_mb => 8001);
select results_eq($$
  select c.task
  from qwf.claim('default', qwf.register_worker('box', 'default', '{"vram_mb": 8000}'), 9) c
$$, $$ values ('plain'), ('small') $$, 'what fits, to the last MiB');
select results_eq($$
  select c.task from qwf.claim('default', qwf.register_worker('box', 'default'), 9) c
$$, $$ values ('large') $$, 'unknown memory is not filtered');
