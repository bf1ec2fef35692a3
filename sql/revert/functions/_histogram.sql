-- Revert qwf:functions/_histogram

begin;

drop function qwf._histogram(real[]);

commit;
