-- Verify qwf:schema/metrics

begin;

select host, sampled_at, cpu_percent, cpu_ours_percent, ram_percent, ram_used_mb, ram_total_mb, ram_ours_used_mb, swap_used_mb, gpus, sent from qwf.host_metrics where false;

rollback;
