-- Verify qwf:functions/_instants

begin;

select 'qwf._instants(timestamp, text)'::regprocedure;

rollback;
