-- 4 tests
select throws_ok($$ select qwf.enqueue('mail', '[1]') $$, 'QW005', 'invalid job', 'a list');
select throws_ok($$ select qwf.enqueue('mail', 'null') $$, 'QW005', 'invalid job', 'JSON null');
select throws_ok($$ select qwf.enqueue('mail', null) $$, 'QW005', 'invalid job', 'SQL null');
select qwf_test.explains($$ select qwf.enqueue('mail', '[1]') $$, 'args:%',
  'the error names the argument');
