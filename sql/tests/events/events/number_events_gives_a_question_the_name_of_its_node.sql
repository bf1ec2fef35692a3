select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "release", "kind": "input", "widget": "confirm", "prompt": "Ship it?", "target": "ok"}]}');
select qwf.enqueue_run('w');
select qwf.tick();
select results_eq($$ select subject from qwf.events where kind = 'question_asked' $$,
  $$ values ('release') $$, 'and not that of its task, which all questions share');
