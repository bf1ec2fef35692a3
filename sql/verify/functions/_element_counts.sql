-- Verify qwf:functions/_element_counts

begin;

select 'qwf._element_counts(bigint, int)'::regprocedure;

rollback;
