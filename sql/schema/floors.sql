-- Deploy qwf:schema/floors
-- Where the queued jobs of a queue begin, while somebody holds a snapshot: vacuum leaves the claimed
-- jobs in the index then, and each claim would pass them all. A tick finds it (_find_floors). Claims
-- read the last row but one of their queue, which lies before all that vacuum has left of this table.

begin;

create type _qwf.band as (priority int, "position" bigint);
comment on type _qwf.band is 'Where in a priority the first queued job without a limit lay.';

create table _qwf.floors (
  queue text not null,
  found_at timestamptz not null,
  until timestamptz not null,
  bands _qwf.band[] not null,
  primary key (queue, found_at)
);
comment on table _qwf.floors is
  'Where claims of a queue may start in each priority, and until when; nothing lies below but jobs '
  'that are given back, come with run_next, or are committed late: those wait until then.';
comment on column _qwf.floors.queue is 'The queue.';
comment on column _qwf.floors.found_at is
  'When it was found. It counts a second later: what was about to commit then has committed.';
comment on column _qwf.floors.until is 'Until when it holds.';
comment on column _qwf.floors.bands is 'The first 16 priorities.';

commit;
