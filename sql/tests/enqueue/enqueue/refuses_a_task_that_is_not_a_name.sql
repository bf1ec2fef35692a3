-- 5 tests
select throws_ok($$ select qwf.enqueue('') $$, 'QW005', 'invalid job', 'empty');
select throws_ok($$ select qwf.enqueue(null) $$, 'QW005', 'invalid job', 'null');
select throws_ok($$ select qwf.enqueue('send mail') $$, 'QW005', 'invalid job', 'two words');
select throws_ok($$ select qwf.enqueue(repeat('x', 201)) $$, 'QW005', 'invalid job', 'too long');
select qwf_test.explains($$ select qwf.enqueue('') $$, 'task:%', 'the error names the argument');
