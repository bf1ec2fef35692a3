-- Revert qwf:functions/_ids_of_taken_keys

begin;

drop function qwf._ids_of_taken_keys(qwf.new_job[], bigint[]);

commit;
