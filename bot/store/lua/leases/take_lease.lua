-- KEYS: lease. ARGV: expiry in seconds. Returns the new token.
-- Tokens follow the clock, in microseconds, so they grow even if Redis lost its last second of writes in a crash.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local last = tonumber(redis.call('GET', KEYS[1]) or '0') or 0
local token = string.format('%.0f', math.max(last + 1, now))
redis.call('SET', KEYS[1], token, 'EX', ARGV[1])
return token
