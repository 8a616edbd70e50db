-- KEYS: schedules, failures in a row. ARGV: id, the run, 1 if it failed, expiry in seconds.
-- Returns how many runs have failed in a row. A run that is reported twice counts once.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
local count, last = 0, ''
local kept = redis.call('HGET', KEYS[2], ARGV[1])
if kept then count, last = kept:match('^(%d+) (.*)$') end
if last == ARGV[2] then return tonumber(count) end
count = ARGV[3] == '1' and tonumber(count) + 1 or 0
redis.call('HSET', KEYS[2], ARGV[1], count .. ' ' .. ARGV[2])
redis.call('EXPIRE', KEYS[2], math.max(tonumber(ARGV[4]), redis.call('TTL', KEYS[1])))
return count
