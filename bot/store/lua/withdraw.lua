-- KEYS: mailbox, threads, request, signal. ARGV: request id, thread, user, seconds, channel.
-- All at once: a run that sees the signal finds its request gone.
local removed = redis.call('LREM', KEYS[1], 1, ARGV[1])
redis.call('DEL', KEYS[3])
if redis.call('LLEN', KEYS[1]) == 0 then redis.call('SREM', KEYS[2], ARGV[2]) end
if removed == 0 then return 0 end
redis.call('SET', KEYS[4], ARGV[3], 'EX', ARGV[4])
redis.call('PUBLISH', ARGV[5], cjson.encode({request_id = ARGV[1], by = ARGV[3]}))
return 1
