-- KEYS: run, undelivered, mailbox, threads, cancelled. ARGV: run id, request id, thread, "1" if the run
-- has received any stop signal. Returns 0, and changes nothing, if there is a signal it did not receive.
if ARGV[4] ~= '1' and redis.call('EXISTS', KEYS[5]) == 1 then return 0 end
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'phase', 'delivered') end
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('LINDEX', KEYS[3], 0) ~= ARGV[2] then return 1 end
redis.call('LPOP', KEYS[3])
if redis.call('LLEN', KEYS[3]) == 0 then redis.call('SREM', KEYS[4], ARGV[3]) end
return 1
