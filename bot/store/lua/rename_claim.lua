-- KEYS: claim, its anonymous key. Moves the claim to that key without its value; keeps its expiry.
local milliseconds = redis.call('PTTL', KEYS[1])
if milliseconds > 0 then redis.call('SET', KEYS[2], '', 'PX', milliseconds) end
redis.call('DEL', KEYS[1])
return 1
