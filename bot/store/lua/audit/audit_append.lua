-- KEYS: stream, head, pending entries. ARGV: the head that the caller saw ('' for none), the new one,
-- expiry in seconds, how many entries come from the pending list, then three parts of each entry:
-- previous hash, own hash, text. Returns the id of the last entry if they are stored, else ''.
local head = redis.call('GET', KEYS[2]) or ''
if head == ARGV[2] then
  local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
  return newest and newest[1] or '0-0'
end
if head ~= ARGV[1] then return '' end
local id = ''
for at = 5, #ARGV, 3 do
  id = redis.call('XADD', KEYS[1], '*', 'previous', ARGV[at], 'hash', ARGV[at + 1], 'entry', ARGV[at + 2])
end
if ARGV[4] ~= '0' then redis.call('LTRIM', KEYS[3], ARGV[4], -1) end
redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[3]) end  -- AuditLog._trim renews it
return id
