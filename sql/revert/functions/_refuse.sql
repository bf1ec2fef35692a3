-- Revert qwf:functions/_refuse

begin;

drop function qwf._refuse(qwf.picked[], text, timestamptz);

commit;
