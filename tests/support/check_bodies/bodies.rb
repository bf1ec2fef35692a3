  "check.echo" => ->(inputs, _) { inputs },
  "check.sleep" => lambda { |inputs, _|
    finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + inputs["seconds"]
    line = 0
    while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
      puts "line #{line += 1}"
      File.write(inputs["beat"], ".", mode: "a") if inputs["beat"]
      sleep 0.1
    end
    { slept: true }
  },
  "check.stubborn" => lambda { |inputs, _|
    trap("TERM", "IGNORE")
    sleep inputs["seconds"]
    {}
  },
  "check.progress" => lambda { |inputs, job|
    job.progress(0.5, "half")
    sleep inputs["seconds"]
    {}
  },
  "check.checkpoint" => lambda { |_, job|
    return { found: job.checkpoint } if job.checkpoint

    job.save(step: 1)
    job.save(step: 2)
    raise "killed"
  },
  "check.fail" => lambda { |inputs, _|
    kinds = { "error" => RuntimeError, "tempfail" => TemporaryError, "fatal" => PermanentError }
    raise kinds.fetch(inputs["kind"]), inputs["message"]
  },
  "check.output" => lambda { |inputs, _|
    case inputs["kind"]
    when "null" then { text: "a\0b" }
    when "list" then [1, 2]
    else { text: "x" * inputs["bytes"] }
    end
  },
