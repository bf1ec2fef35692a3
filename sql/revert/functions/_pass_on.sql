-- Revert qwf:functions/_pass_on

begin;

drop function qwf._pass_on(text, qwf.workers, timestamptz);

commit;
