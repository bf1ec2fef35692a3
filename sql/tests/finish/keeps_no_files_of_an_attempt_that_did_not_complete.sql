begin;
select plan(1);

select qwf.enqueue('a', max_attempts => 2);
select qwf_test.attempt('a', 'error', detail => '{"files": [{"rel_path": "half"}]}');
select is_empty('select * from qwf.run_files', 'the next attempt writes the folder again');

select * from finish();
rollback;
