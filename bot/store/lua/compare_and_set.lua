-- KEYS: value. ARGV: the value that the caller saw ('' for none), the new one, expiry in seconds.
-- Returns 1 if the new value is stored, also if repeated after a lost reply; 0 if the value changed.
local kept = redis.call('GET', KEYS[1]) or ''
if kept == ARGV[2] then return 1 end
if kept ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
return 1
