begin;
select plan(10);

select qwf_test.set_now('2026-01-01 12:00:00Z');
select qwf.create_limit('api', starts => 1, per => '10 s');
select qwf.tick();
select is((qwf.tick('1 h') -> 'next_due_s'), 'null', 'nothing waits');
select qwf.enqueue('t', queue => 'cpu', limit_by => 'api') from generate_series(1, 3);
select qwf.enqueue('t', queue => 'gpu');
select is(qwf_test.claim(), 'claimed t', 'one');
select qwf.sleep('w', 'cpu'), qwf.sleep('elsewhere', 'gpu');
select qwf_test.travel('4 s');
select is((qwf.tick() -> 'next_due_s')::numeric, 6.0, 'who ticks is told when the next may start');
select is(qwf.tick('1 h'), '{"ran": false, "next_due_s": null}', 'and nobody else');
select is(qwf_test.woken(), null, 'nobody is woken before');
select qwf_test.travel('6 s');
create temp table done as select qwf.tick('1 h') as v;
select is(v -> 'allowed', '1', 'then one is allowed') from done;
select is(qwf_test.woken(), 'w', 'and a sleeper of its queue is woken');
select is((v -> 'next_due_s')::numeric, 10.0, 'the next a period later') from done;
select is(qwf_test.claim(), 'claimed t', 'it gets the job');
select is((qwf.tick() -> 'allowed')::int, 0, 'nobody is woken for a start that was used');

select * from finish();
rollback;
