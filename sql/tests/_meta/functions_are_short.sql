-- Style rule 4: a function is one idea, and no body has more than 80 lines.
-- The three exceptions hold the ordinary case of a claim, of a report and of what a report opens
-- in one body, because each further call costs a tenth of it (docs/adr/0040 and 0043).
select is_empty($$
  select p.oid::regprocedure, b.lines
  from pg_proc p
  cross join lateral (
    select cardinality(string_to_array(btrim(p.prosrc, E'\n'), E'\n')) as lines) b
  where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
    and b.lines >= case when p.proname in ('claim', 'finish_many', 'advance_runs')
      then 90 else 81 end
$$, 'no body has more than 80 lines');
