-- 3 tests
-- Another try of the step goes on with the run that failed, however old it is.
select qwf_test.register_album();
select qwf.enqueue_run('album', '{"list": ["p"]}');
select qwf_test.works(1), qwf_test.works(1, '%');
select is(array_agg(status::text order by id), '{failed,failed}', 'both runs have failed')
from qwf.runs;
update qwf.runs set status = 'running', finished_at = null, open_nodes = 1 where depth = 0;
select qwf_test.travel('99 days');
select is((qwf.prune() ->> 'runs')::int, 0, 'the run above is not over');
update qwf.runs set status = 'failed', finished_at = created_at where depth = 0;
select qwf.prune();
select is_empty('select * from qwf.runs', 'then both go');
