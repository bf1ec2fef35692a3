-- Verify qwf:functions/_fold_counts

begin;

select 'qwf._fold_counts(int)'::regprocedure;

rollback;
