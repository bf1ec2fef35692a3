-- Verify qwf:functions/desired_state

begin;

select 'qwf.desired_state(text, text)'::regprocedure;

rollback;
