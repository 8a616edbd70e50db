-- KEYS: stream, head, pending entries. ARGV: the head that the caller saw, the new one, expiry in seconds.
-- Returns 1 if all entries are deleted and the head is the new one, else 0.
local head = redis.call('GET', KEYS[2]) or ''
if head == ARGV[2] then return 1 end
if head ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1], KEYS[3])
redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
return 1
