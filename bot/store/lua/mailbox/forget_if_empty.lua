-- KEYS: mailbox, threads. ARGV: thread. Returns 1 if the thread was removed, 0 if it has requests.
if redis.call('LLEN', KEYS[1]) > 0 then return 0 end
return redis.call('SREM', KEYS[2], ARGV[1])
