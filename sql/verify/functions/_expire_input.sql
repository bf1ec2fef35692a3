-- Verify qwf:functions/_expire_input

begin;

select 'qwf._expire_input(bigint, timestamptz)'::regprocedure;

rollback;
