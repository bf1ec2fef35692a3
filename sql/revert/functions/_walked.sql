-- Revert qwf:functions/_walked

begin;

drop function qwf._walked(regclass);

commit;
