-- KEYS: used values. ARGV: value, how many seconds it is remembered, how many are remembered at most.
-- Returns 1 if the value is used for the first time.
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
if redis.call('ZADD', KEYS[1], 'NX', now, ARGV[1]) == 0 then return 0 end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - tonumber(ARGV[3]))
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
