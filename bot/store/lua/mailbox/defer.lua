-- KEYS: cancelled, parked. ARGV: why, seconds. Returns 1 if the thread is parked now, 0 if somebody
-- wants its head stopped, which needs a run.
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[2])
return 1
