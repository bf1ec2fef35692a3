begin;
select plan(3);

select qwf.enqueue('waiting', queue => 'cpu'), qwf.pause_queue('cpu'), qwf.sleep('w', 'cpu');
select qwf.resume_queue('cpu');
select is(qwf_test.woken(), 'w', 'who sleeps on it is woken');
select is(qwf_test.claim(), 'claimed waiting', 'it is handed out');
select throws_ok($$ select qwf.resume_queue('nope') $$, 'QW006');

select * from finish();
rollback;
