-- Verify qwf:functions/agent_settings

begin;

select 'qwf.agent_settings(text)'::regprocedure;

rollback;
