-- Revert qwf:functions/_add_histograms

begin;

drop function qwf._add_histograms(bigint[], bigint[]);

commit;
