-- 4 tests
select qwf.enqueue(t, queue => 'cpu') from unnest('{a,b,c,d,e}'::text[]) t;
select is(qwf_test.claim('cpu', 3), 'claimed a, b, c', 'three run');
select qwf.create_queue('cpu', max_running => 2);
select qwf_test.report('b');
select is(qwf_test.claim('cpu', 9), 'claimed nothing', 'two are left');
select qwf_test.report('a');
select is(qwf_test.claim('cpu', 9), 'claimed d', 'one is left: one more');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
