-- KEYS: value. ARGV: the value that the caller saw.
-- Returns 1 if the value is gone now, also if repeated after a lost reply; 0 if it changed.
local kept = redis.call('GET', KEYS[1])
if kept and kept ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
return 1
