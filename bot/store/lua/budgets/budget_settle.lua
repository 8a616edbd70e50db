-- KEYS: mark of this charge, then the spending of each account, then the holds of capped accounts.
-- ARGV: expiry of the mark in seconds; number of accounts; id of the call whose holds are released;
-- then for each account its holder, its expiry in seconds, and '1' if each charge renews the expiry;
-- then names and counts to add to all accounts.
-- The mark makes sure that a repeated charge counts once.
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
    -- Replace a damaged counter, or the error would end every run that charges this account.
    if type(sum) == 'table' then redis.call('HSET', key, field, count) end
    is_new = is_new or sum == tonumber(count)
  end
  if is_new then redis.call('EXPIRE', key, ARGV[at + 1]) end
end
return 1
