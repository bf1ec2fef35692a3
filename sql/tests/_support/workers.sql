-- Workers that claim, by what they announced.

create function qwf_test.worker(p_info jsonb default '{}', p_host text default 'box') returns text
language sql volatile
as $$ select qwf.register_worker(p_host, 'gpu', p_info) $$;
comment on function qwf_test.worker(jsonb, text) is 'Registers a worker of queue gpu.';

create function qwf_test.gets(
  p_worker text, p_max_jobs int default 1, p_light_only boolean default false)
returns text
language sql volatile
as $$
  select coalesce(string_agg(c.task, ', '), 'nothing')
  from qwf.claim('gpu', p_worker, p_max_jobs, light_only => p_light_only) c
$$;
comment on function qwf_test.gets(text, int, boolean) is
  'Tasks that the worker is handed from queue gpu, in order.';

create function qwf_test.beat(p_worker text, p_model text default null) returns void
language sql volatile
as $$ select qwf.heartbeat(p_worker, stats => jsonb_build_object('current_model', p_model)) $$;
comment on function qwf_test.beat(text, text) is 'A heartbeat of a worker that has loaded a model.';
