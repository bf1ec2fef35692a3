-- Revert qwf:functions/_assemble

begin;

drop function qwf._assemble(jsonb[]);

commit;
