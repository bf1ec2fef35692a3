begin;
select plan(1);

select is(qwf.agent_settings('cpu'), '{
  "lease": 30, "heartbeat": 10, "poll": 1, "tick": 1, "timeout": 3600, "cancel_grace": 10,
    "stop_grace": 60,
  "max_log_bytes": 65536, "max_value_bytes": 1048576,
    "max_error_bytes": 262144}', 'seconds and bytes');

select * from finish();
rollback;
