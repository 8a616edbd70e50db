-- KEYS: event claim, message claim, request, mailbox, threads.
-- ARGV: request id, request, thread, seconds of claims, seconds of requests.
-- Returns 1 for a new request, also when its own reply was lost; 0 for one seen before.
local function claimed(key)
  local holder = redis.call('GET', key)
  return holder and holder ~= ARGV[1]
end
if claimed(KEYS[1]) or claimed(KEYS[2]) then return 0 end
if redis.call('GET', KEYS[2]) then return 1 end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[4])
redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[4])
redis.call('SET', KEYS[3], ARGV[2], 'EX', ARGV[5])
redis.call('RPUSH', KEYS[4], ARGV[1])
redis.call('EXPIRE', KEYS[4], ARGV[5])
redis.call('SADD', KEYS[5], ARGV[3])
redis.call('EXPIRE', KEYS[5], ARGV[5])
return 1
