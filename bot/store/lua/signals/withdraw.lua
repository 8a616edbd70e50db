-- KEYS: mailbox, threads, request, signal, parked, run of the request.
-- ARGV: request id, thread, user, expiry in seconds, channel, the request to store if a run must end it,
-- the request to store otherwise ("" for none), and when a run must end it: "begun" (if it has a run),
-- "always" or "never".
-- Returns 1 if the request waited or ran. Atomic: a run that sees the signal sees the changed request.
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
