-- KEYS: stream, head.
-- ARGV: the head that the caller saw, the new one, expiry in seconds, id of the last entry to remove.
-- Returns 1 if the entries are removed and the head is updated, 0 if the head has changed.
local head = redis.call('GET', KEYS[2]) or ''
if head == ARGV[2] then return 1 end
if head ~= ARGV[1] then return 0 end
redis.call('XTRIM', KEYS[1], 'MINID', '=', ARGV[4])
redis.call('XDEL', KEYS[1], ARGV[4])
redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
return 1
