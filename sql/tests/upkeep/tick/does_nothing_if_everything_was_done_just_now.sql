-- 3 tests
select qwf_test.set_now('2030-01-01');
select qwf.enqueue('lapsing');
select qwf.claim('default', 'w', 1, '1 s');
select qwf_test.travel('0.5 s'), qwf.tick(), qwf_test.travel('0.6 s');
select is(qwf.tick('0.7 s'), '{"ran": false, "next_due_s": null}', 'a lapsed lease waits');
select qwf_test.travel('0.2 s');
select ok(qwf.tick('0.7 s') @> '{"ran": true, "reclaimed": 1}', 'for the next that does all');
select ok(qwf.tick() @> '{"ran": true}', 'and a bare call always does');
