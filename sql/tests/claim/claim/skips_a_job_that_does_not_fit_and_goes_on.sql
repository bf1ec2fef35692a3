select qwf.enqueue('big', priority => 1, vram_mb => 9000), qwf.enqueue('small');
select results_eq($$
  select c.task
  from qwf.claim('default', qwf.register_worker('box', 'default', '{"vram_mb": 1000}')) c
$$, $$ values ('small') $$, 'a first job that the worker cannot run blocks no other job');
