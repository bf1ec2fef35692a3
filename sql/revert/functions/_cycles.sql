-- Revert qwf:functions/_cycles

begin;

drop function qwf._cycles(int, int[], int[]);

commit;
