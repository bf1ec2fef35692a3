-- Revert qwf:functions/_bucket

begin;

drop function qwf._bucket(real);

commit;
