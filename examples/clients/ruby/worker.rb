# A qwf worker in Ruby, one body at a time, each in a forked child:  ruby worker.rb QUEUE
# Needs: gem install pg. The PG* variables say where the database is. If they lead through a transaction
# pooler, QWF_LISTEN_DSN is an address without one, for LISTEN.
require "json"
require "pg"
require "socket"

# The bodies it can run: task name -> lambda that takes the inputs and the job, and returns the output
# hash. A body must be safe to run twice. What it prints is the log of its job.
class TemporaryError < StandardError; end
class PermanentError < StandardError; end
BODIES = {
  "hello" => ->(inputs, _) { { text: "hello #{inputs["who"]}" } },
  "shout" => lambda { |inputs, job|
    job.progress(0.5, "halfway")
    { text: inputs["text"].upcase }
  }
}

# What a body gets: it runs in a child, and tells the parent by a pipe. The next attempt gets what it saves
# as job.checkpoint; the parent has stored it before it reports how the attempt ended.
Job = Struct.new(:id, :attempt, :checkpoint, :pipe) do
  def progress(fraction, message = nil) = pipe.puts(JSON.generate(progress: [fraction, message]))
  def save(checkpoint) = pipe.puts(JSON.generate(save: [JSON.generate(checkpoint)]))
end

# One loop. Bodies run only in the child, so they cannot delay a heartbeat.
class Worker
  # Commits without waiting for the disk: if a crash loses a claim or a heartbeat, the lease just lapses.
  NO_WAIT = "set_config('synchronous_commit', 'off', true)"
  NEVER = Float::INFINITY
  FINAL = /^(22|23|54|QW)/ # classes of errors that say that a report cannot be stored: docs/errors.md
  OPTIONS = { connect_timeout: 10, keepalives_idle: 5, client_encoding: "UTF8" }

  def initialize(queue)
    @queue, @stops = queue, 0
    @db = PG.connect(OPTIONS)
    @settings = JSON.parse(ask("select qwf.agent_settings($1)", queue)[0]["agent_settings"])
    info = JSON.generate(pid: Process.pid, slots: 1, tasks: BODIES.keys)
    @id, @channel = ask("select w, qwf.wake_channel(w) from qwf.register_worker($1, $2, $3::text::jsonb) w",
                        Socket.gethostname, queue, info)[0].values
    listen
    PG.connect(OPTIONS) { |other| other.exec_params("select qwf.echo($1)", [@id]) }
    @echo_by = now + 5
    @beat_at = @look_at = @tick_at = 0
    @stop_at = @send_log_at = NEVER
    @rechecks = []
  end

  def run
    %w[TERM INT].each { |signal| trap(signal) { @stops += 1 } }
    until @stops.positive? && @job.nil?
      wait
      handle_signals
      read_child
      watch
      beat if now >= @beat_at
      send_log if now >= @send_log_at
      claim if @job.nil? && @stops.zero? && now >= @look_at
      tick if now >= @tick_at
    end
    ask("select qwf.deregister_worker($1)", @id)
  end

  private

  def wait
    due = [@beat_at, @tick_at, @job ? now + 0.2 : @look_at].min
    IO.select([@listener.socket_io, @pipe, @log].compact, nil, nil, (due - now).clamp(0, 0.2)) # a trap does not interrupt select
    @listener.consume_input
    while (news = @listener.notifies)
      case news[:extra]
      when "echo" then @echo_by = NEVER
      when "cancel" then @beat_at = 0
      when "log" then @send_log_at = 0
      else @look_at = 0
      end
    end
    warn_of_silence if now > @echo_by
  rescue PG::Error
    reconnect
  end

  def listen
    @listener = ENV["QWF_LISTEN_DSN"] ? PG.connect(ENV["QWF_LISTEN_DSN"], OPTIONS) : @db
    @listener.exec(%(listen "#{@channel}"))
  end

  # A pooler takes a LISTEN without a word, and loses it.
  def warn_of_silence
    @echo_by = NEVER
    warn "no notification arrives, so jobs start up to a second late: " \
         "set QWF_LISTEN_DSN to an address without a transaction pooler"
  end

  # The first signal lets the body finish for `stop_grace`; then, or at the second, the job is released.
  def handle_signals
    @stop_at = now + @settings["stop_grace"] if @stops.positive? && @stop_at == NEVER
    stop_body("released") if @job && (@stops > 1 || now > @stop_at)
  end

  def claim
    @job = ask(<<~SQL, @queue, @id)&.first
      select c.job_id, c.token, c.task, c.inputs, c.attempt, c.checkpoint, extract(epoch from c.timeout) as timeout
      from #{NO_WAIT}, qwf.claim($1, $2) c
    SQL
    if @job
      ask("select from #{NO_WAIT}, qwf.wake($1)", @id) if @slept_at # notify others instead
      @slept_at = nil
      return start
    end
    if @slept_at.nil? || now > @slept_at + 5 # the database forgets a sleeper after 15 s
      ask("select from #{NO_WAIT}, qwf.sleep($1, $2)", @id, @queue)
      @rechecks = [0, 0.005, 0.025, 0.1] if @slept_at.nil? # work that came just before woke nobody
      @slept_at = now
    end
    @look_at = now + (@rechecks.shift || @settings["poll"] * rand(0.75..1.25))
  end

  def start
    @told, @stop_reason, @kill_at, @started = +"".b, nil, NEVER, now
    @tail, @printed = +"".b, 0
    @pipe, writer = IO.pipe
    @log, printed = IO.pipe
    @child = fork do
      %w[TERM INT].each { |signal| trap(signal, "DEFAULT") }
      Process.setpgrp
      [$stdout, $stderr].each { |stream| stream.reopen(printed).sync = true }
      writer.sync = true
      writer.write(perform(@job, writer))
      writer.close
      exit!(true) # exit! leaves the parent's connection alone
    end
    [writer, printed].each(&:close)
  end

  # Runs in the child: returns the report as JSON.
  def perform(job, pipe)
    body = BODIES[job["task"]]
    return JSON.generate(outcome: "fatal", error: "this worker has no such task") unless body

    saved = job["checkpoint"] && JSON.parse(job["checkpoint"])
    output = body.call(JSON.parse(job["inputs"]), Job.new(job["job_id"], job["attempt"].to_i, saved, pipe))
    JSON.generate(outcome: "completed", output: output)
  rescue SignalException
    "" # it was told to stop
  rescue Exception => e # any other error
    outcome = { TemporaryError => "tempfail", PermanentError => "fatal" }.fetch(e.class, "error")
    text = e.full_message(highlight: false).encode("UTF-8", invalid: :replace, undef: :replace).scrub
    JSON.generate(outcome: outcome, error: text.delete("\0"))
  end

  # Reads what the child tells and prints; when the child ends, so does the attempt.
  def read_child
    return unless @job

    read_log
    loop { @told << @pipe.read_nonblock(65_536) }
  rescue IO::WaitReadable
    take_lines
  rescue EOFError
    take_lines
    _, status = Process.wait2(@child)
    read_log
    [@pipe, @log].each(&:close)
    @pipe = @log = nil
    result = @told[/[^\n]+\z/].to_s
    report(status.success? && result != "" ? JSON.parse(result, symbolize_names: true) : died(status))
  end

  def take_lines
    while (line = @told.slice!(/\A.*\n/)) # a whole line is progress or a checkpoint; the report has no end of line
      told = JSON.parse(line)
      told["save"] ? save(*told["save"]) : progress(*told["progress"])
    end
  end

  def read_log
    loop do
      more = @log.read_nonblock(65_536)
      @printed += more.bytesize
      @tail = (@tail + more).byteslice(-@settings["max_log_bytes"]..) || @tail + more
    end
  rescue IO::WaitReadable, EOFError
    nil
  end

  def tail = @tail.dup.force_encoding("UTF-8").scrub.delete("\0")

  # Sends the log of the job about once a second, for as long as somebody follows it.
  def send_log
    @send_log_at = NEVER
    return unless @job && ask("select j from qwf.followed_logs($1) j", @id)&.any?

    answer = ask("select qwf.report_log($1, $2, $3, $4) as more", @job["job_id"], @job["token"], @printed, tail)
    @send_log_at = now + 1 if answer.nil? || answer[0]["more"] == "t"
  end

  def progress(fraction, message)
    answer = ask("select p as verdict from #{NO_WAIT}, qwf.progress($1, $2, $3, $4) p",
                 @job["job_id"], @job["token"], fraction, message)
    obey(answer[0]["verdict"]) if answer
  end

  def save(checkpoint)
    answer = ask("select qwf.progress($1, $2, checkpoint => $3::text::jsonb) as verdict",
                 @job["job_id"], @job["token"], checkpoint)
    obey(answer[0]["verdict"]) if answer
  end

  def died(status)
    case @stop_reason
    when nil then { outcome: "lost", error: "the child died: #{status}", detail: { reason: "crashed" } }
    when "timeout" then { outcome: "lost", error: "it ran over its timeout", detail: { reason: "timeout" } }
    else { outcome: @stop_reason } # released, cancelled, or lost (which is not sent)
    end
  end

  def report(result)
    until @stop_reason == "lost"
      detail = { **result[:detail].to_h, log_tail: tail }
      answer = ask("select * from qwf.finish_many($1::text::jsonb)",
                   JSON.generate([{ job_id: @job["job_id"], token: @job["token"], **result, detail: detail }]))
      ask("select qwf.drain_outbox()") if answer && answer[0]["pending"] == "t"
      break if answer # ok, or lost: another worker has the job, and this attempt does not count
      break if now > @stop_at || @stops > 1 # deregistering releases the job

      sleep 1 # such as no database: repeat the report until it is answered
    end
  rescue PG::Error => e # a final one
    warn e.message
    if result[:outcome] != "fatal"
      result = { outcome: "fatal", error: "the report cannot be stored: #{e.message}" }
      retry
    end # else the lease lapses, and the job runs again
  ensure
    @job = nil
    @look_at = 0
  end

  # Stops a body that runs over its timeout; kills one that was told to stop and did not.
  def watch
    return unless @job

    stop_body("timeout") if now > @started + @job["timeout"].to_f
    kill("KILL") if now > @kill_at
  end

  def stop_body(reason)
    return if @stop_reason

    @stop_reason = reason
    @kill_at = now + @settings["cancel_grace"]
    kill(reason == "lost" ? "KILL" : "TERM")
  end

  def kill(signal)
    Process.kill(signal, -@child)
  rescue Errno::ESRCH
    nil # it has ended, or was forked a moment ago: the next turn tries again
  end

  def beat
    tokens = "{#{@job && @job["token"]}}"
    ask("select h.* from #{NO_WAIT}, qwf.heartbeat($1, $2) h", @id, tokens)&.each do |row|
      obey(row["verdict"])
    end
    @beat_at = now + [@settings["heartbeat"], @settings["lease"] / 3].min
  end

  def obey(verdict)
    stop_body(verdict == "cancel" ? "cancelled" : "lost") if verdict != "ok"
  end

  def tick
    ask("select qwf.tick('0.7 s')")
    @tick_at = now + @settings["tick"] * rand(0.75..1.25)
  end

  # Returns rows, or nil after an error that may pass, such as no database. Raises a final one.
  def ask(text, *values)
    @db.exec_params(text, values).to_a
  rescue PG::Error => e
    code = e.result&.error_field(PG::Result::PG_DIAG_SQLSTATE)
    raise if FINAL.match?(code.to_s)

    warn e.message
    reconnect if code.nil? || code.start_with?("57P") || @db.status != PG::CONNECTION_OK
  end

  def reconnect
    [@db, @listener].uniq.each { |one| one.finish unless one.finished? }
    @db = PG.connect(OPTIONS)
    listen
    nil
  rescue PG::Error => e
    warn e.message
    sleep 1
    nil
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

Worker.new(ARGV.fetch(0)).run
