-- KEYS: mailbox, threads. ARGV: thread.
if redis.call('LLEN', KEYS[1]) > 0 then return 0 end
return redis.call('SREM', KEYS[2], ARGV[1])
