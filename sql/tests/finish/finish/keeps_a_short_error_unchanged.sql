select qwf.enqueue('a');
select qwf_test.attempt('a', 'fatal', error => E'line\n\tline — ü');
select is((select last_error from qwf.jobs), E'line\n\tline — ü', 'to the last character');
