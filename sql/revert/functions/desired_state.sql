-- Revert qwf:functions/desired_state

begin;

drop function qwf.desired_state(text, text);

commit;
