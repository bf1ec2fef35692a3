-- Revert qwf:functions/_look_sparingly

begin;

drop function qwf._look_sparingly(text);

commit;
