-- Charge a call to accounts, once, and release its holds.
-- keys: mark of this charge, then the spending of each account, then the holds of capped accounts.
-- args: expiry of the mark in seconds; number of accounts; id of the call whose holds are released;
-- then for each account its holder, its expiry in seconds, and '1' if each charge renews the expiry;
-- then names and counts to add to all accounts.
-- The mark makes sure that a repeated charge counts once.
local function charge(keys, args)
  local accounts = tonumber(args[2])
  for n = accounts + 2, #keys do redis.call('HDEL', keys[n], args[3]) end
  local added = 4 + 3 * accounts
  if added > #args then return 0 end
  if not redis.call('SET', keys[1], '1', 'NX', 'EX', args[1]) then return 0 end
  for n = 1, accounts do
    local key, at = keys[n + 1], 1 + 3 * n
    local is_new = args[at + 2] == '1'
    for i = added, #args, 2 do
      local field, count = args[i] .. ' ' .. args[at], args[i + 1]
      local sum = redis.pcall('HINCRBY', key, field, count)
      -- Replace a damaged counter, or the error would end every run that charges this account.
      if type(sum) == 'table' then redis.call('HSET', key, field, count) end
      is_new = is_new or sum == tonumber(count)
    end
    if is_new then redis.call('EXPIRE', key, args[at + 1]) end
  end
  return 1
end
