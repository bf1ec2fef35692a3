# A qwf worker in Ruby, one body at a time, each in a forked child:  ruby worker.rb QUEUE
# gem install pg. The PG* variables say where the database is.
require "json"
require "pg"
require "socket"

# What it can run: task name -> block that gets the inputs; the hash it returns is the output. It must
# do no harm when run twice.
class TemporaryError < StandardError; end
BODIES = {
  "hello" => ->(inputs) { { text: "hello #{inputs["who"]}" } },
  "shout" => ->(inputs) { { text: inputs["text"].upcase } }
}

# One loop. Only the child runs bodies, so that nothing they do delays a heartbeat.
class Worker
  # Commits without waiting for the disk: a claim or heartbeat lost that way is only a lapse.
  SOFTLY = "set_config('synchronous_commit', 'off', true)"
  NEVER = Float::INFINITY
  OPTIONS = { connect_timeout: 10, keepalives_idle: 5, client_encoding: "UTF8" }

  def initialize(queue)
    @queue, @stops, @db = queue, 0, PG.connect(OPTIONS)
    @settings = JSON.parse(ask("select qwf.agent_settings($1)", queue)[0]["agent_settings"])
    info = JSON.generate(pid: Process.pid, tasks: BODIES.keys)
    @id, @channel = ask("select w, qwf.wake_channel(w) from qwf.register_worker($1, $2, $3) w",
                        Socket.gethostname, queue, info)[0].values
    @db.exec(%(listen "#{@channel}"))
    @beat_at = @look_at = @tick_at = 0
    @rechecks = []
  end

  def run
    %w[TERM INT].each { |signal| trap(signal) { @stops += 1 } }
    until @stops.positive? && @job.nil?
      wait
      heed_signals
      take_in
      watch
      beat if now >= @beat_at
      claim if @job.nil? && @stops.zero? && now >= @look_at
      tick if now >= @tick_at
    end
    ask("select qwf.deregister_worker($1)", @id)
  end

  private

  def wait
    due = [@beat_at, @tick_at, @job ? now + 0.2 : @look_at].min
    IO.select([@db.socket_io, @pipe].compact, nil, nil, (due - now).clamp(0, 0.2)) # traps do not end a select
    @db.consume_input
    while (news = @db.notifies)
      news[:extra] == "cancel" ? @beat_at = 0 : @look_at = 0
    end
  rescue PG::Error
    reconnect
  end

  # The first signal lets the body end, the second gives it back.
  def heed_signals
    stop_body("released") if @job && @stops > 1
  end

  def claim
    @job = ask(<<~SQL, @queue, @id)&.first
      select c.job_id, c.token, c.task, c.inputs, extract(epoch from c.timeout) as timeout
      from #{SOFTLY}, qwf.claim($1, $2) c
    SQL
    if @job
      ask("select from #{SOFTLY}, qwf.wake($1)", @id) if @said_at # wake others instead
      @said_at = nil
      return start
    end
    if @said_at.nil? || now > @said_at + 5 # the database forgets a sleeper after 15 s
      ask("select from #{SOFTLY}, qwf.sleep($1, $2)", @id, @queue)
      @rechecks = [0, 0.005, 0.025, 0.1] if @said_at.nil? # what came just before woke nobody
      @said_at = now
    end
    @look_at = now + (@rechecks.shift || @settings["poll"] * rand(0.75..1.25))
  end

  def start
    @said, @fate, @kill_at, @started = +"", nil, NEVER, now
    @pipe, writer = IO.pipe
    @child = fork do
      %w[TERM INT].each { |signal| trap(signal, "DEFAULT") }
      Process.setpgrp
      writer.write(perform(@job))
      writer.close
      exit!(true) # exit! leaves the parent's connection alone
    end
    writer.close
  end

  # In the child: the report, as JSON.
  def perform(job)
    output = BODIES.fetch(job["task"]).call(JSON.parse(job["inputs"]))
    JSON.generate(outcome: "completed", output: output)
  rescue SignalException
    "" # it was told to stop
  rescue Exception => e # whatever it was
    outcome = e.is_a?(TemporaryError) ? "tempfail" : "error"
    said = e.full_message(highlight: false).encode("UTF-8", invalid: :replace, undef: :replace).scrub
    JSON.generate(outcome: outcome, error: said.delete("\0"))
  end

  # What the child says; its end is the end of the attempt.
  def take_in
    return unless @job

    loop { @said << @pipe.read_nonblock(65_536) }
  rescue IO::WaitReadable
    nil
  rescue EOFError
    _, status = Process.wait2(@child)
    @pipe.close
    @pipe = nil
    report(status.success? && @said != "" ? JSON.parse(@said) : died(status))
  end

  def died(status)
    case @fate
    when nil then { outcome: "lost", error: "the child died: #{status}", detail: { reason: "crashed" } }
    when "timeout" then { outcome: "lost", error: "no end in time", detail: { reason: "timeout" } }
    else { outcome: @fate } # released, cancelled, or lost: then nobody listens
    end
  end

  def report(result)
    until @fate == "lost" || @stops > 1
      said = ask("select * from qwf.finish_many($1)",
                 JSON.generate([{ job_id: @job["job_id"], token: @job["token"], **result }]))
      ask("select qwf.drain_outbox()") if said && said[0]["pending"] == "t"
      break if said # ok, or lost: another worker has it, and this attempt counts for nothing

      sleep 1 # no database: say it again until it is heard
    end
  rescue PG::Error => e
    warn e.message
    if result[:outcome] != "fatal"
      result = { outcome: "fatal", error: "the report cannot be stored: #{e.message}" }
      retry
    end # else the lease lapses, and the job is tried again
  ensure
    @job = nil
    @look_at = 0
  end

  # Kills a body that runs for too long, or was told to stop and did not.
  def watch
    return unless @job

    stop_body("timeout") if now > @started + @job["timeout"].to_f
    kill("KILL") if now > @kill_at
  end

  def stop_body(fate)
    return if @fate

    @fate = fate
    @kill_at = now + @settings["cancel_grace"]
    kill(fate == "lost" ? "KILL" : "TERM")
  end

  def kill(signal)
    Process.kill(signal, -@child)
  rescue Errno::ESRCH
    nil # it has ended, or has only just been forked: then at the next look
  end

  def beat
    tokens = "{#{@job && @job["token"]}}"
    ask("select h.* from #{SOFTLY}, qwf.heartbeat($1, $2) h", @id, tokens)&.each do |row|
      stop_body(row["verdict"] == "cancel" ? "cancelled" : "lost") if row["verdict"] != "ok"
    end
    @beat_at = now + [@settings["heartbeat"], @settings["lease"] / 3].min
  end

  def tick
    ask("select qwf.tick('0.7 s')")
    @tick_at = now + @settings["tick"] * rand(0.75..1.25)
  end

  # Rows; nil while there is no database.
  def ask(text, *values)
    @db.exec_params(text, values).to_a
  rescue PG::ConnectionBad, PG::UnableToSend, PG::AdminShutdown
    reconnect
  end

  def reconnect
    @db.finish unless @db.finished?
    @db = PG.connect(OPTIONS)
    @db.exec(%(listen "#{@channel}"))
    nil
  rescue PG::Error => e
    warn e.message
    sleep 1
    nil
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

Worker.new(ARGV.fetch(0)).run
