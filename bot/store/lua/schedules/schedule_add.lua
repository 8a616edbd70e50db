-- KEYS: schedules, schedules-due. ARGV: id, the schedule, its due time, expiry in seconds after the latest due time, user, maximum
-- count per user. Returns 0, and stores nothing, if the user already has the maximum.
local theirs = 0
for _, raw in ipairs(redis.call('HVALS', KEYS[1])) do
  local readable, each = pcall(cjson.decode, raw)
  local whole = readable and type(each) == 'table'
  if whole and each.user == ARGV[5] and each.id ~= ARGV[1] then theirs = theirs + 1 end
end
if theirs >= tonumber(ARGV[6]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
-- Long enough for the latest to come, which may be a year away.
local wait = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2] - redis.call('TIME')[1]
local expiry = math.floor(tonumber(ARGV[4]) + math.max(0, wait))
redis.call('EXPIRE', KEYS[1], expiry)
redis.call('EXPIRE', KEYS[2], expiry)
return 1
