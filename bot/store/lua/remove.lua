-- KEYS: mailbox, threads, request. ARGV: request id, thread.
local removed = redis.call('LREM', KEYS[1], 1, ARGV[1])
redis.call('DEL', KEYS[3])
if redis.call('LLEN', KEYS[1]) == 0 then redis.call('SREM', KEYS[2], ARGV[2]) end
return removed
