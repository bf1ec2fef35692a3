-- Verify qwf:schema/minutes

begin;

select host, minute, samples, cpu_percent, cpu_percent_max, cpu_ours_percent, ram_percent, ram_percent_max, ram_used_mb, ram_total_mb, ram_ours_used_mb, swap_used_mb, swap_used_mb_max, gpu_percent, gpu_percent_max, vram_used_mb, vram_total_mb, gpus from qwf.host_minutes where false;
select queue, minute, queued, running, head_wait_seconds, completed, error, fatal, tempfail, lost, released, cancelled from qwf.queue_minutes where false;

rollback;
