-- KEYS: mark of a message of which nothing is left to do, event claim. ARGV: seconds of claims.
-- Returns 0 where something is left to do, 1 for another event of a message that was taken in, 2 for
-- an event that came before.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
return redis.call('SET', KEYS[2], '', 'NX', 'EX', ARGV[1]) and 1 or 2
