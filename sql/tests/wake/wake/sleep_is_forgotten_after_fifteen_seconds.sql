-- A worker renews its sleep; one that does not is gone.
select qwf_test.set_now(qwf.now());
select qwf.sleep('gone', 'default');
select qwf_test.travel('9 s');
select qwf.sleep('there', 'default');
select qwf_test.travel('7 s');
select count(*) from qwf.enqueue_many('[{"task": "a"}, {"task": "b"}]');
select is(qwf_test.woken(), 'there', 'only the one that still sleeps is woken');
