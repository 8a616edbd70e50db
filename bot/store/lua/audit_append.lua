-- KEYS: stream, head, list beside. ARGV: hash of the entry before, seconds, most entries, oldest id,
-- how many come from the list, then pairs of hash and entry. Returns "" when they are kept, else the hash that is the head.
local head = redis.call('GET', KEYS[2]) or ''
if head == ARGV[#ARGV - 1] then return '' end
if head ~= ARGV[1] then return head end
local before = head
for at = 6, #ARGV, 2 do
  redis.call('XADD', KEYS[1], '*', 'previous', before, 'hash', ARGV[at], 'entry', ARGV[at + 1])
  before = ARGV[at]
end
redis.call('LTRIM', KEYS[3], ARGV[5], -1)
redis.call('SET', KEYS[2], before, 'EX', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[2])
redis.call('XTRIM', KEYS[1], 'MINID', '~', ARGV[4])
redis.call('XTRIM', KEYS[1], 'MAXLEN', '~', ARGV[3])
return ''
