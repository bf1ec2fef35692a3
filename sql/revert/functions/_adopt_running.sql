-- Revert qwf:functions/_adopt_running

begin;

drop function qwf._adopt_running(text);

commit;
