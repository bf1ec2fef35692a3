-- Revert qwf:functions/_check_count

begin;

drop function qwf._check_count(text, int);

commit;
