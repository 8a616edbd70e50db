-- KEYS: value, key in the quarantine. ARGV: expiry in seconds. Moves the value, if it exists.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('RENAME', KEYS[1], KEYS[2])
return redis.call('EXPIRE', KEYS[2], ARGV[1])
