-- Revert qwf:functions/_ancestors

begin;

drop function qwf._ancestors(int, int[], int[], int[], boolean[]);

commit;
