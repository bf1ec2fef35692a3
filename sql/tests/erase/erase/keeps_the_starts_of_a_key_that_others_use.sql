-- 4 tests
select qwf.create_limit('mail', 5, 5, '1 day', keyed => true);
select qwf.enqueue(t, limit_by => 'mail:anna') from unnest('{a,b}'::text[]) t;
select qwf_test.claim('default', 1);
select qwf_test.report('a', 'fatal');
select is((select cardinality(starts) from qwf.limit_keys where name = 'mail:anna'), 1,
  'a start counts');
select qwf.erase(format('{"ids": [%s]}', qwf_test.job('a'))::jsonb);
select is((select cardinality(starts) from qwf.limit_keys where name = 'mail:anna'), 1,
  'it counts for the job that waits');
select qwf.cancel_job(qwf_test.job('b'));
select qwf.erase(format('{"ids": [%s]}', qwf_test.job('b'))::jsonb);
select is_empty('select * from qwf.limit_keys', 'nobody needs it now');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
