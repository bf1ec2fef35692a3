-- Revert qwf:functions/_fold_counts

begin;

drop function qwf._fold_counts(int);

commit;
