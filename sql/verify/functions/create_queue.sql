-- Verify qwf:functions/create_queue

begin;

select 'qwf.create_queue(text, interval, interval, interval, int)'::regprocedure;

rollback;
