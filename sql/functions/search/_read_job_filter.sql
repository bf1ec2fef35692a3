-- Deploy qwf:functions/search/_read_job_filter
-- Purpose: Reads the filter of find_jobs.
-- Raises: as _read_filter.
-- Called by: _find_erasable, find_jobs.

begin;

create function _qwf.read_job_filter(p_filter jsonb) returns _qwf.job_filter
language sql stable
as $$
  select _qwf.read_filter(null::_qwf.job_filter, p_filter,
    '{status,queue,task,run_id,node,worker,host,project,labels,key,error,signature,args,text,
      since,until}',
    enum_range(null::qwf.job_status)::text[])
$$;

commit;
