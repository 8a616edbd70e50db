-- KEYS: hash. ARGV: field, the value that the caller saw ('' for none), the new one, expiry in seconds.
-- Returns 1 if the new value is stored, also if repeated after a lost reply; 0 if the value changed.
-- So two callers with the same new value both get 1: where only one may, the values must differ.
local kept = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if kept == ARGV[3] then return 1 end
if kept ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1
