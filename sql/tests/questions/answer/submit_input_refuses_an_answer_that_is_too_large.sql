-- Settings: max_value_bytes is the largest context, args, output or answer.
select qwf_test.question('text');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask',
  to_jsonb(repeat('x', 1048577))) $$, 'QW005', null,
  'more than 1 MiB');
