-- 4 tests
select qwf.enqueue('running', queue => 'cpu'), qwf.enqueue('waiting', queue => 'cpu');
select qwf_test.claim();
select qwf.pause_queue('cpu');
select is(qwf_test.claim(), 'claimed nothing', 'nothing more');
select lives_ok($$ select qwf_test.report('running') $$, 'running jobs continue');
select lives_ok($$ select qwf.enqueue('later', queue => 'cpu') $$, 'work may be enqueued');
select throws_ok($$ select qwf.pause_queue('nope') $$, 'QW006');
