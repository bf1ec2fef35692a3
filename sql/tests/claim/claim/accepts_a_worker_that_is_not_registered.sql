select qwf.enqueue('picky', model => 'flux', vram_mb => 99999, project => 'p');
select is((select c.task from qwf.claim('default', 'psql') c), 'picky',
  'select * from qwf.claim(queue, me) works from psql');
