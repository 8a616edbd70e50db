-- With _in_order.lua.
-- KEYS: event claim, message claim, request, mailbox, threads.
-- ARGV: request id, request, thread, expiry of claims and of requests in seconds, prefix of requests.
-- Returns 1 for a new request, also if repeated after a lost reply; 0 if the event or message was seen.
local claims = redis.call('MGET', KEYS[1], KEYS[2])
for _, holder in ipairs(claims) do
  if holder and holder ~= ARGV[1] then return 0 end
end
if claims[2] then return 1 end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[4])
redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[4])
redis.call('SET', KEYS[3], ARGV[2], 'EX', ARGV[5])
insert(KEYS[4], ARGV[6], ARGV[1])
redis.call('EXPIRE', KEYS[4], ARGV[5])
redis.call('SADD', KEYS[5], ARGV[3])
redis.call('EXPIRE', KEYS[5], ARGV[5])
return 1
