select qwf_test.question('text');
select qwf.cancel_run(qwf_test.run());
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '"cat"') $$, 'QW002', null,
  'too late');
