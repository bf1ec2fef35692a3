-- Revert qwf:functions/agent_settings

begin;

drop function qwf.agent_settings(text);

commit;
