-- Verify qwf:functions/_ids_of_taken_keys

begin;

select 'qwf._ids_of_taken_keys(qwf.new_job[], bigint[])'::regprocedure;

rollback;
