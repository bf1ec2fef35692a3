select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.enqueue_run('w');
select qwf_test.claim();
select qwf_test.report('s/a', 'fatal',
  error => E'Traceback (most recent call last):\n  File "x"\nValueError: no such image\n');
select is((select error from qwf.runs), 's/a failed: ValueError: no such image',
  'it says what went wrong');
