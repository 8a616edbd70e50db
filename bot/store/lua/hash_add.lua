-- KEYS: hash. ARGV: field, value, expiry in seconds, maximum count.
-- Returns 0, and stores nothing, if the hash already has the maximum of other fields.
local known = redis.call('HEXISTS', KEYS[1], ARGV[1])
if known == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
