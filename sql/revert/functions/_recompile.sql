-- Revert qwf:functions/_recompile

begin;

drop function qwf._recompile(text);

commit;
