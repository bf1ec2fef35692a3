-- 2 tests
select throws_ok($$ select qwf.register_worker('box', 'tpu') $$, 'QW006', 'unknown queue',
  'no job can be there');
select qwf_test.explains($$ select qwf.register_worker('box', 'tpu') $$, '%tpu%cpu%',
  'the error names those there are');
