-- KEYS: mailbox, threads, request, signal, parked, run of the request.
-- ARGV: request id, thread, user, seconds, channel, what is kept of the request while a run has to end
-- it, what is kept otherwise ("" for nothing), "begun", "always" or "never": when a run has to.
-- Returns 1 when it waited or ran. All at once: a run that sees the signal finds the request changed.
local waits = redis.call('LPOS', KEYS[1], ARGV[1])
local begun = redis.call('EXISTS', KEYS[6]) == 1
local stays = waits and (ARGV[8] == 'always' or (ARGV[8] == 'begun' and begun))
local left = stays and ARGV[6] or ARGV[7]
if left == '' then
  redis.call('DEL', KEYS[3])
else
  redis.call('SET', KEYS[3], left, 'XX', 'EX', ARGV[4])
end
if not waits then return 0 end
if not stays then
  redis.call('LREM', KEYS[1], 1, ARGV[1])
  if redis.call('LLEN', KEYS[1]) == 0 then redis.call('SREM', KEYS[2], ARGV[2]) end
end
redis.call('SET', KEYS[4], ARGV[3], 'EX', ARGV[4])
redis.call('DEL', KEYS[5])
redis.call('PUBLISH', ARGV[5], cjson.encode({request_id = ARGV[1], by = ARGV[3]}))
return 1
