-- KEYS: mark of a fully submitted message, event claim. ARGV: expiry of claims in seconds.
-- Returns 0 if the message is not fully submitted, 1 for another event of a submitted message, 2 for an
-- event that was delivered before.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
return redis.call('SET', KEYS[2], '', 'NX', 'EX', ARGV[1]) and 1 or 2
