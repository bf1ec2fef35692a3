-- Revert qwf:functions/_filter_operator

begin;

drop function qwf._filter_operator(text);

commit;
