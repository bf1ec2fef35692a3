-- Verify qwf:functions/_open_guarded

begin;

select 'qwf._open_guarded(bigint[])'::regprocedure;

rollback;
