#!/usr/bin/env bash
# A qwf worker in bash and psql, one body at a time:  worker.sh QUEUE BODIES
# Task NAME is the executable BODIES/NAME: inputs as JSON on stdin, output as JSON on stdout, messages
# for people on stderr. Exit code 0 means completed, 75 means try again later, 65 means that no other
# try can help, all others mean failed.
# The PG* variables say where the database is. Needs bash 4, GNU timeout, iconv.
# Left out: psql cannot wait for a notification, so this worker does not sleep and is not woken; bodies
# cannot report progress or save checkpoints.
set -uo pipefail
queue=$1 bodies=$2 work=$(mktemp -d) stops=0 body=
export PGCLIENTENCODING=UTF8 PGCONNECT_TIMEOUT=10

# Runs the statements on stdin. Pass values with -v name=value, and quote them with :'name'.
ask() { psql -XqAt -F $'\x1f' -v ON_ERROR_STOP=1 "$@"; }

begin() {
  local tasks
  tasks=$(cd "$bodies" && printf '%s\n' *)
  IFS=$'\x1f' read -r worker poll tick heartbeat grace stop_grace log_bytes < <(
    ask -v host="$(hostname)" -v queue="$queue" -v pid=$$ -v tasks="$tasks" <<'SQL'
select qwf.register_worker(:'host', :'queue', jsonb_build_object(
    'pid', :pid, 'slots', 1, 'tasks', string_to_array(:'tasks', E'\n'))),
  s.poll, s.tick, least(s.heartbeat, s.lease / 3), s.cancel_grace, s.stop_grace, s.max_log_bytes
from jsonb_to_record(qwf.agent_settings(:'queue')) s (poll float, tick float, heartbeat float,
  lease float, cancel_grace float, stop_grace float, max_log_bytes int);
SQL
  )
}

# Sends a heartbeat (which prints nothing), then claims a job if there is one.
claim() {
  IFS=$'\x1f' read -r job token task limit inputs < <(
    ask -v queue="$queue" -v worker="$worker" <<'SQL'
select h.* from set_config('synchronous_commit', 'off', true), qwf.heartbeat(:'worker') h;
select c.job_id, c.token, c.task, ceil(extract(epoch from c.timeout)), c.inputs
from set_config('synchronous_commit', 'off', true), qwf.claim(:'queue', :'worker') c;
SQL
  )
}

# In the background: calls tick() until this process ends.
ticking() {
  while sleep "$tick" && kill -0 $$ 2>/dev/null; do
    ask <<<"select qwf.tick('0.7 s');" >/dev/null
  done
}

# In the background: renews the lease while the body runs, and stops the body when told to.
beating() {
  while sleep "$heartbeat" && kill -0 "$1" 2>/dev/null; do
    verdict=lost                                      # if this process has ended, nobody could report
    kill -0 $$ 2>/dev/null && verdict=$(beat)
    [[ $verdict == cancel || $verdict == lost ]] || continue  # ok, or locked just now, or no database
    echo "$verdict" >"$work/verdict"
    if [[ $verdict == cancel ]]; then
      kill "$1"                                       # timeout forwards it, and kills after the grace
    else
      kill -KILL -- "-$1"                             # another worker has the job
    fi
  done
}

beat() {
  ask -v worker="$worker" -v token="$token" <<'SQL'
select h.verdict
from set_config('synchronous_commit', 'off', true), qwf.heartbeat(:'worker', array[:'token'::uuid]) h;
SQL
}

# In the background: sends what the body has printed while somebody follows its log.
following() {
  while sleep "$poll" && kill -0 "$1" 2>/dev/null && kill -0 $$ 2>/dev/null; do
    tail_of_log >"$work/live"
    WORK=$work ask -v job="$job" -v token="$token" -v worker="$worker" \
      -v bytes="$(stat -c %s "$work/log")" <<'SQL' >/dev/null
\set tail `cat "$WORK/live"`
select qwf.report_log(j, :'token', :bytes, :'tail') from qwf.followed_logs(:'worker') j where j = :job;
SQL
  done
}

# The end of what the body has printed, as text that can be stored.
tail_of_log() {
  tail -c "$log_bytes" "$work/log" | tr -d '\000' | iconv -c -f utf-8 -t utf-8
}

# Whether the task is one of ours. The database is not asked: a name is a path here, and others write it.
known() {
  [[ $task != */* && $task != .* && -f $bodies/$task && -x $bodies/$task ]]
}

run() {
  local beats follows code outcome=error error=
  rm -f "$work"/*
  if ! known; then
    : >"$work/tail"
    deliver fatal 'this worker has no such task' 127
    return
  fi
  timeout -k "$grace" "$limit" "$bodies/$task" <<<"$inputs" >"$work/output" 2>"$work/log" &
  body=$!
  beating "$body" & beats=$!
  following "$body" & follows=$!
  while wait "$body"; kill -0 "$body"; do :; done 2>/dev/null     # a signal to this process ends a wait
  wait "$body"; code=$?
  kill "$beats" "$follows" 2>/dev/null
  body=
  tail_of_log >"$work/tail"
  case $(cat "$work/verdict" 2>/dev/null):$code:$stops in
    lost:*) return ;;
    cancel:*) outcome=cancelled error='cancelled while it ran' ;;
    :0:*) outcome=completed ;;
    :75:*) outcome=tempfail ;;
    :65:*) outcome=fatal ;;
    :143:[1-9] | :*:[2-9]) outcome=released error='the worker was stopped' ;;
    :124:* | :137:*) outcome=lost error="killed, or still running after $limit s" ;;
  esac
  [[ $error || $outcome == completed ]] || error="exit code $code: $(tail -n 1 "$work/tail")"
  deliver "$outcome" "$error" "$code"
}

# Repeats the report until it is answered, except after errors that say that it cannot be stored: the
# classes in docs/errors.md.
deliver() {
  local outcome=$1 error=$2 final=': +(22|23|54|QW)[0-9A-Z]{3}: '
  until report "$outcome" "$error" "$3" 2>"$work/refusal"; do
    cat "$work/refusal" >&2
    if ! [[ $(<"$work/refusal") =~ $final ]]; then
      ((stops < 2)) || break                          # deregistering releases the job
      sleep 1                                         # such as no database
    elif [[ $outcome != fatal ]]; then
      outcome=fatal error="the report cannot be stored: $(head -n 1 "$work/refusal")"
    else
      break                                           # the lease lapses, and the job runs again
    fi
  done
}

report() {
  [[ $1 == completed ]] || : >"$work/output"
  WORK=$work ask -v VERBOSITY=verbose -v job="$job" -v token="$token" -v outcome="$1" -v error="$2" -v code="$3" <<'SQL'
\set output `cat "$WORK/output"`
\set log `cat "$WORK/tail"`
select verdict, pending from qwf.finish_many(jsonb_build_array(jsonb_build_object(
  'job_id', :job, 'token', :'token', 'outcome', :'outcome', 'output', nullif(:'output', '')::jsonb,
  'error', nullif(:'error', ''), 'detail', jsonb_build_object('exit_code', :code, 'log_tail', :'log'))))
\gset
\if :pending
  select qwf.drain_outbox() as drained \gset
\endif
SQL
}

deregister() {
  ((BASHPID == $$)) || return                         # a child that had not yet dropped our traps
  kill "$ticks" 2>/dev/null
  ask -v worker="$worker" <<<"select qwf.deregister_worker(:'worker');" >/dev/null
  rm -rf "$work"
}

begin || exit 69
ticking & ticks=$!
trap deregister EXIT
# The first signal lets the body finish for stop_grace; then, or at the second, the job is released.
stop() {
  ((BASHPID == $$)) || exit                           # a child that had not yet dropped our traps
  ((++stops > 1)) && [[ $body ]] && kill "$body"
  if ((stops == 1)); then
    { sleep "$stop_grace" && kill $$; } &              # a second signal, unless this process has ended
    last=$!
  fi
}
trap stop TERM INT
while ((stops == 0)); do
  if claim; then
    run
  else
    sleep "$poll" & wait $!                           # psql cannot wait for a NOTIFY: this worker polls
  fi
done
exit 0                                                # a requested stop is a success
