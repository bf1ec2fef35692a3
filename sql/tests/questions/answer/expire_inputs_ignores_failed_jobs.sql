select qwf.enqueue('a', on_failure => 'ask', expires => '1 s') from generate_series(1, 3);
select qwf_test.claim('default', 3);
select count(qwf.finish(j.id, j.token, 'fatal')) from qwf.jobs j;
select qwf_test.question('confirm', '{"expires": "1 h"}');
select qwf_test.travel('2 h');
select is(_qwf.expire_inputs(1), 1, 'the question expires');
