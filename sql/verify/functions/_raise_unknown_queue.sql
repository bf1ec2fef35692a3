-- Verify qwf:functions/_raise_unknown_queue

begin;

select 'qwf._raise_unknown_queue(text, text)'::regprocedure;

rollback;
