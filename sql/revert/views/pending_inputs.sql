-- Revert qwf:views/pending_inputs

begin;

drop view qwf.pending_inputs;

commit;
