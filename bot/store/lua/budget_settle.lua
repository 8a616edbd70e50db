-- KEYS: mark of this charge, then what is spent of each account, then the holds of capped ones.
-- ARGV: seconds of the mark; how many accounts; id of the call whose holds are released; then of each
-- account its holder, how many seconds it is kept, and '1' when that is put off by each charge; then
-- names and counts of what is added to all.
-- Charged once, however often it is sent.
local accounts = tonumber(ARGV[2])
for n = accounts + 2, #KEYS do redis.call('HDEL', KEYS[n], ARGV[3]) end
local added = 4 + 3 * accounts
if added > #ARGV then return 0 end
if not redis.call('SET', KEYS[1], '1', 'NX', 'EX', ARGV[1]) then return 0 end
for n = 1, accounts do
  local key, at = KEYS[n + 1], 1 + 3 * n
  local is_new = ARGV[at + 2] == '1'
  for i = added, #ARGV, 2 do
    local field, count = ARGV[i] .. ' ' .. ARGV[at], ARGV[i + 1]
    local sum = redis.pcall('HINCRBY', key, field, count)
    -- A counter that is no number any more begins anew: it must not end every run that it counts.
    if type(sum) == 'table' then redis.call('HSET', key, field, count) end
    is_new = is_new or sum == tonumber(count)
  end
  if is_new then redis.call('EXPIRE', key, ARGV[at + 1]) end
end
return 1
