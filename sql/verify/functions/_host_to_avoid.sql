-- Verify qwf:functions/_host_to_avoid

begin;

select 'qwf._host_to_avoid(text, text, jsonb)'::regprocedure;

rollback;
