-- Verify qwf:functions/_filter_operator

begin;

select 'qwf._filter_operator(text)'::regprocedure;

rollback;
