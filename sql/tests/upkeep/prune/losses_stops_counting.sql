select qwf.enqueue('t') from generate_series(1, 3);
select qwf.cancel_job(j.id) from qwf.jobs j;
select qwf_test.travel('1 year');
select is(l.jobs, 2::bigint, 'at most') from qwf.losses(most => 2) l;
