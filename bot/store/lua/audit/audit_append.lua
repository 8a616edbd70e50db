-- KEYS: stream, head, pending entries. ARGV: the head that the caller saw ('' for none), the new one,
-- expiry in seconds, how many entries come from the pending list, then three parts of each entry:
-- previous hash, own hash, text. Returns 1 if they are stored, else the current head.
local head = redis.call('GET', KEYS[2]) or ''
if head == ARGV[2] then return 1 end
if head ~= ARGV[1] then return head end
for at = 5, #ARGV, 3 do
  redis.call('XADD', KEYS[1], '*', 'previous', ARGV[at], 'hash', ARGV[at + 1], 'entry', ARGV[at + 2])
end
if ARGV[4] ~= '0' then redis.call('LTRIM', KEYS[3], ARGV[4], -1) end
redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
if head == '' then redis.call('EXPIRE', KEYS[1], ARGV[3]) end  -- later AuditLog._trim renews it once an hour
return 1
