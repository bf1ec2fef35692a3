-- Verify qwf:functions/_complete

begin;

select 'qwf._complete(qwf.held[], timestamptz)'::regprocedure;

rollback;
