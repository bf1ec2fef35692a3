-- Revert qwf:functions/_open_elements

begin;

drop function qwf._open_elements(bigint, int);

commit;
