-- Verify qwf:functions/_transition

begin;

select 'qwf._transition(text, boolean, int, int, int, int, jsonb, text, qwf.settings)'::regprocedure;

rollback;
