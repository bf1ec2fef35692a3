select qwf.enqueue('a', expires => '1 h', max_attempts => 2);
select qwf_test.claim('default'), qwf_test.report('a', 'error');
select qwf_test.travel('2 h'), qwf.tick();
select is(qwf_test.state('a'), 'queued', 'a second try may come later');
