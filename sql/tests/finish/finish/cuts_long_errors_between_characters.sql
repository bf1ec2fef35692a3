update qwf.settings set max_error_bytes = 1000;
select qwf.enqueue('a');
select qwf_test.attempt('a', 'fatal', error => repeat('ü', 400) || repeat('𝄞', 400));
select ok(octet_length(last_error) <= 1000 and last_error ~ '^ü.*𝄞$', 'never in the middle of one')
from qwf.jobs;
