-- Verify qwf:functions/pause_queue

begin;

select 'qwf.pause_queue(text)'::regprocedure;

rollback;
