create temp table me as select qwf.register_worker('box', 'cpu',
  '{"labels": {"host": "other"}}') as id;
select is((select labels ->> 'host' from qwf.workers), 'box', 'host is the host');
