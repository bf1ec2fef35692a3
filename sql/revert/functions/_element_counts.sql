-- Revert qwf:functions/_element_counts

begin;

drop function qwf._element_counts(bigint, int);

commit;
