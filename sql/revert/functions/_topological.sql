-- Revert qwf:functions/_topological

begin;

drop function qwf._topological(int, int[], int[]);

commit;
