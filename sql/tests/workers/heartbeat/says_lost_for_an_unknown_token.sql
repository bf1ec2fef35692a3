-- 2 tests
select is((select verdict from qwf.heartbeat('w', array[gen_random_uuid()])), 'lost', 'made up');
select is((select verdict
from qwf.heartbeat('w', array['ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid])), 'lost',
  'whatever it looks like');
