select qwf.enqueue('a', max_attempts => 9), qwf.enqueue('b'), qwf.enqueue('c');
select qwf_test.attempt('a', output => '[1]'), qwf_test.attempt('b', output => '"text"'),
  qwf_test.attempt('c', output => '7');
select results_eq('select status::text, last_error, output from qwf.jobs order by id', $$
  values ('failed', 'QW005: the output is array, not an object', null::jsonb),
    ('failed', 'QW005: the output is string, not an object', null),
    ('failed', 'QW005: the output is number, not an object', null)
$$, 'saying what it is; another try would return the same');
