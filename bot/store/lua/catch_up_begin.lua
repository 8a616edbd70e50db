-- KEYS: lock, when the last one began. ARGV: token, seconds of the lock, least age of the last one.
-- Returns 1 when the lock is ours: nobody else holds it, and the last one began long enough ago.
local holder = redis.call('GET', KEYS[1])
if holder then return holder == ARGV[1] and 1 or 0 end
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local begun = tonumber(redis.call('GET', KEYS[2]) or '0')
if now - begun < tonumber(ARGV[3]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
redis.call('SET', KEYS[2], string.format('%.6f', now), 'EX', 86400)
return 1
