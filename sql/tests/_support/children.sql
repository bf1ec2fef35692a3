-- A workflow that runs another one for each element of a list, and a worker that does its nodes.

create function qwf_test.register_album() returns void
language sql
as $$
  select qwf.register_workflow('{"name": "one", "inputs": {"type": "object", "required": ["x"],
    "properties": {"x": {"type": "string"}, "size": {"type": "integer", "default": 5}}},
    "outputs": {"text": {"$from": "write.text"}, "x": {"$from": "x"}}, "steps": [
    {"id": "crop", "node": "crop", "inputs": {"x": {"$from": "x"}, "size": {"$from": "size"}}},
    {"id": "write", "node": "write", "depends_on": ["crop"],
      "inputs": {"x": {"$from": "crop.x"}}}]}');
  select qwf.register_workflow('{"name": "album", "steps": [
    {"id": "scan", "node": "scan", "inputs": {"list": {"$from": "list"}}},
    {"id": "each", "kind": "workflow", "workflow": "one", "depends_on": ["scan"],
      "map": {"$from": "scan.list"}, "max_parallel": 2, "inputs": {"x": {"$from": "item"}}},
    {"id": "sum", "node": "sum", "depends_on": ["each"], "inputs": {"all": {"$from": "each"}}}]}');
$$;
comment on function qwf_test.register_album() is
  'Registers album, whose step each runs workflow one for each element of its input list.';

create function qwf_test.works(p_rounds int, p_fails text default null) returns text
language plpgsql
as $$
declare
  v_job record;
  v_done text;
begin
  for v_round in 1..p_rounds loop
    for v_job in select * from qwf.claim('cpu', 'w1', 100) loop
      v_done := concat_ws(' ', v_done, v_job.node_id || ':' || case
        when v_job.inputs::text like p_fails
          then qwf.finish(v_job.job_id, v_job.token, 'error', error => 'boom')
        else qwf.finish(v_job.job_id, v_job.token, 'completed',
          v_job.inputs || jsonb_build_object('text', upper(v_job.inputs ->> 'x'))) end);
    end loop;
  end loop;
  return v_done;
end $$;
comment on function qwf_test.works(int, text) is
  'Claims and completes everything that many times; what has inputs like p_fails fails.';
