-- Verify qwf:functions/_add_histograms

begin;

select 'qwf._add_histograms(bigint[], bigint[])'::regprocedure;

rollback;
