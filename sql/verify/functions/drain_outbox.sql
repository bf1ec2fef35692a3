-- Verify qwf:functions/drain_outbox

begin;

select 'qwf.drain_outbox(int)'::regprocedure;

rollback;
