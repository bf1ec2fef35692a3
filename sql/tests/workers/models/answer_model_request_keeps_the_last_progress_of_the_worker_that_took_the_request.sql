-- 6 tests
create temp table who as
  select qwf.register_worker('box', 'llm', '{"models": ["gemma"]}') as one;
select qwf.request_model('box', 'llm', 'gemma');
create temp table taken as select r.id from who, qwf.take_model_requests(one) r;

select qwf.answer_model_request(id, 'ghost', progress => 'pulling: 1 %') from taken;
select is((select progress from qwf.model_requests), null, 'not of another');
select qwf.answer_model_request(id, one, progress => 'pulling: 1 %') from taken, who;
select qwf.answer_model_request(id, one, progress => 'pulling: ' || repeat('9', 1000))
from taken, who;
select matches((select progress from qwf.model_requests), '^pulling: 9', 'its last report');
select is((select answered_at from qwf.model_requests), null, 'it has not ended');
select ok((select length(progress) from qwf.model_requests) <= 200, 'cut');
select qwf.answer_model_request(id, one) from taken, who;
select matches((select progress from qwf.model_requests where answered_at is not null),
  '^pulling: 9', 'the answer ends it and keeps that');
select qwf.answer_model_request(id, one, progress => 'late') from taken, who;
select isnt((select progress from qwf.model_requests), 'late', 'not after the answer');
