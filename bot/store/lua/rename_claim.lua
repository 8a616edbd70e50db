-- KEYS: claim, its nameless form. Moves the one to the other, without its value, until it would have expired.
local milliseconds = redis.call('PTTL', KEYS[1])
if milliseconds > 0 then redis.call('SET', KEYS[2], '', 'PX', milliseconds) end
redis.call('DEL', KEYS[1])
return 1
