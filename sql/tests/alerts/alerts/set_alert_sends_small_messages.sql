-- 4 tests
-- Megabytes that others wrote do not become megabytes that are kept or sent, and break no rule.
create function pg_temp.noise(p_length int) returns text language sql as $$
  select left(string_agg(md5(n::text), 'é<"'), p_length)
  from generate_series(1, p_length / 32 + 1) n $$;
create temp table big as select pg_temp.noise(500000) as text, pg_temp.noise(50000) as label;
select qwf.register_workflow(jsonb_build_object('name', 'w', 'steps', jsonb_build_array(
  jsonb_build_object('id', 'ask', 'kind', 'input', 'widget', 'text', 'prompt', text)))) from big;
select qwf.set_alert('all', '{"when": ["run_ended", "job_failed", "question_asked"], "by": "event",
  "do": {"receiver": "ops"}}');
select qwf.set_alert('label', '{"when": ["run_ended", "job_failed"], "by": "label.l",
  "do": {"receiver": "ops"}}');
select qwf.set_alert('own', '{"when": ["job_failed"], "do": {"task": "page"}}');
select qwf.enqueue('load', jsonb_build_object('x', text), labels => jsonb_build_object('l', label))
from big;
select qwf.finish(c.job_id, c.token, 'fatal', null, text)
from big, qwf.claim('default', 'w', 1) c;
select qwf.enqueue_run('w');
select qwf.tick();
select results_eq($$ select coalesce(j.inputs -> 'message', j.inputs -> 'alert') ->> 'rule',
    octet_length(j.inputs::text) < 2000 from qwf.jobs j where j.labels ? 'qwf.alert' order by 1 $$,
  $$ values ('all', true), ('all', true), ('label', true), ('own', true) $$, 'short messages');
select ok(max(octet_length(e.detail::text)) < 2000, 'short events') from qwf.events e;
select ok(max(octet_length(o.key) + octet_length(o.subject)) < 2000, 'short alerts')
from qwf.open_alerts o;
select is_empty('select name, last_error from qwf.alerts where last_error is not null',
  'and no rule fails');
