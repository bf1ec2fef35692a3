-- Revert qwf:functions/_reads

begin;

drop function qwf._reads(jsonb);

commit;
