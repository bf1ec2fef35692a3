-- Verify qwf:functions/_look_up_queue

begin;

select 'qwf._look_up_queue(text, text)'::regprocedure;

rollback;
