"""The claim of an idle agent waits for what its queue demands."""

from __future__ import annotations

import pytest

from support.harness import Database, StartAgent, until

WATCH = """
create table public.commits (waits_for text);
create function public.tg_note() returns trigger language plpgsql security definer as $$
begin
  insert into public.commits values (current_setting('synchronous_commit'));
  return null;
end $$;
create trigger note after update on qwf.jobs for each row
  when (old.status = 'queued' and new.status = 'running') execute function public.tg_note()
"""


@pytest.mark.parametrize(("options", "waits_for"), [((), "off"), (("--durable-claims",), "on")])
def test_it_waits_for_the_disk_and_for_standbys_only_if_it_is_told_to(
    base: Database, start: StartAgent, options: tuple[str, ...], waits_for: str
) -> None:
    base.conn.execute(WATCH)
    start("--app", "bodies", *options)
    until(lambda: base.one("select count(*) from qwf.sleepers") == 1, "the agent to fall asleep")
    base.ended(base.enqueue("noop"))
    assert base.one("select string_agg(waits_for, ' ') from public.commits") == waits_for
