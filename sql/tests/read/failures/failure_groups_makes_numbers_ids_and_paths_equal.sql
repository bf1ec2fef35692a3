-- any number of tests
select is(_qwf.error_signature(_qwf.error_line(error)), signature, left(error, 60))
from (values
  ('[Errno 2] No such file: ''/data/in/x.png''', '[Errno #] No such file: ''<path>'''),
  ('503 for http://10.0.0.3:8080/v1/jobs/17?x=3, retry', '# for <path>, retry'),
  ('Tried to allocate 2.50 GiB (GPU 0; 20,1 GiB used)',
    'Tried to allocate # GiB (GPU #; # GiB used)'),
  ('7f3a9c2e-1b2c-4d5e-8f90-123456789abc at 0x7f3bdead', '# at #'),
  ('digest 0123456789abcdef0123456789abcdef', 'digest #'),
  (E'C:\\Users\\ada\\x.txt: missing', '<path>: missing'),
  ('~/a.txt ./b ../c/d', '<path> <path> <path>'),
  ('Input/output error', 'Input/output error'),
  ('deadbeef is a word', 'deadbeef is a word'),
  (E'\n\n  first\nsecond', 'first'),
  (E'Traceback (most recent call last):\n  File "x"\nValueError: bad 7\n', 'ValueError: bad #'),
  (E'Traceback (most recent call last):\r\n  File "x"\r\nKeyError: 7 ', 'KeyError: #'),
  (E'Traceback (most recent call last):\n  File "x"\nE: é\n \t\n', 'E: é'),
  ('', ''), (E'\n', ''), (null, null)) e (error, signature);
select is(length(_qwf.error_signature(_qwf.error_line(repeat('x', 65536)))), 200,
  'a long error is cut');
select lives_ok(
  format('select _qwf.error_signature(_qwf.error_line(%L))', repeat(unit, 20000)), unit)
from unnest(array['/', 'a1-', '1.', '://', '\', '<path>', E'\u202e', ' 1a1']) unit;
