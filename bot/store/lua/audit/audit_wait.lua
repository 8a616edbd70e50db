-- KEYS: pending entries. ARGV: expiry in seconds, how many to keep at most, then the text of each entry.
-- Adds them behind the others, unless they are there already because the call is repeated.
local last = redis.call('LRANGE', KEYS[1], 2 - #ARGV, -1)
local there = #last == #ARGV - 2
for at = 3, #ARGV do there = there and last[at - 2] == ARGV[at] end
if not there then
  for at = 3, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[at]) end
  redis.call('LTRIM', KEYS[1], -ARGV[2], -1)
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
