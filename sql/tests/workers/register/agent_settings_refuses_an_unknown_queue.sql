-- 2 tests
select throws_ok($$ select qwf.agent_settings('tpu') $$, 'QW006', 'unknown queue',
  'an agent should not start on it');
select qwf_test.explains($$ select qwf.agent_settings('tpu') $$, '%tpu%cpu%',
  'the error names those there are');
