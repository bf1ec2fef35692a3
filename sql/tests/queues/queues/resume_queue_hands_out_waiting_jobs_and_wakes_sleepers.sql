-- 3 tests
select qwf.enqueue('waiting', queue => 'cpu'), qwf.pause_queue('cpu'), qwf.sleep('w', 'cpu');
select qwf.resume_queue('cpu');
select is(qwf_test.woken(), 'w', 'its sleeper is woken');
select is(qwf_test.claim(), 'claimed waiting', 'the job is handed out');
select throws_ok($$ select qwf.resume_queue('nope') $$, 'QW006');
