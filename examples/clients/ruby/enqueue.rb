# Inserts an order and its work, or neither:  ruby enqueue.rb ada@example.org
# In Rails: the same two calls inside ActiveRecord::Base.transaction, with connection.select_value.
require "json"
require "pg"

email = ARGV.fetch(0)
PG.connect.transaction do |db| # reads the PG* variables
  order = db.exec_params("insert into orders (email) values ($1) returning id", [email]).getvalue(0, 0).to_i
  db.exec_params("select qwf.enqueue('receipt', $1::text::jsonb, queue => 'cpu', key => $2)",
                 [JSON.generate(order: order), "order #{order}"])
  run = db.exec_params("select qwf.enqueue_run('greet', $1::text::jsonb)", [JSON.generate(who: email)]).getvalue(0, 0)
  puts run
end
