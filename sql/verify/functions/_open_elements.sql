-- Verify qwf:functions/_open_elements

begin;

select 'qwf._open_elements(bigint, int)'::regprocedure;

rollback;
