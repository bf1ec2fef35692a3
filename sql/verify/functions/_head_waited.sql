-- Verify qwf:functions/_head_waited

begin;

select 'qwf._head_waited(text, qwf.workers, timestamptz, bigint[])'::regprocedure;

rollback;
