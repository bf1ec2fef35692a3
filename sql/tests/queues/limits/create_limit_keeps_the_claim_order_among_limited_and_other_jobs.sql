-- 3 tests
select qwf.create_limit('api', 2), qwf.create_limit('disk', 9);
select qwf.enqueue('a', queue => 'cpu', limit_by => 'api'), qwf.enqueue('b', queue => 'cpu'),
  qwf.enqueue('c', queue => 'cpu', limit_by => 'disk'),
  qwf.enqueue('d', queue => 'cpu', limit_by => 'api'),
  qwf.enqueue('e', queue => 'cpu', limit_by => 'api'), qwf.enqueue('f', queue => 'cpu'),
  qwf.enqueue('g', queue => 'cpu', limit_by => 'disk', priority => 1);
select is(qwf_test.claim('cpu', 3), 'claimed g, a, b', 'by priority, then first in, first out');
select is((select count(job_id) from qwf.limit_slots), 2::bigint, 'only running jobs hold slots');
select is(qwf_test.claim('cpu', 9), 'claimed c, d, f', 'skips the job whose limit is reached');
