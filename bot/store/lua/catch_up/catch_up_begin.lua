-- KEYS: lock, when the last turn began. ARGV: token, expiry of the lock in seconds, least age of the
-- last turn in seconds.
-- Returns 1 if the caller has the lock: nobody else holds it, and the last turn is old enough.
local holder = redis.call('GET', KEYS[1])
if holder then return holder == ARGV[1] and 1 or 0 end
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local begun = tonumber(redis.call('GET', KEYS[2]) or '0')
if now - begun < tonumber(ARGV[3]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
redis.call('SET', KEYS[2], string.format('%.6f', now), 'EX', 86400)
return 1
