-- With _read_key.lua.
-- KEYS: set of threads that have requests. ARGV: prefix of all keys. Reads the set, and the mailboxes,
-- requests and runs that it leads to, also those that are newer than the caller's list of keys.
local prefix, found = ARGV[1], {read_key(KEYS[1])}
local function add(...)
  found[#found + 1] = read_key(prefix .. table.concat({...}, ':'))
end
for _, thread in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  add('mailbox', thread)
  add('parked', thread)
  for _, id in ipairs(redis.call('LRANGE', prefix .. 'mailbox:' .. thread, 0, -1)) do
    add('request', id)
    add('run-of', id)
    add('run', redis.call('GET', prefix .. 'run-of:' .. id) or '')
  end
end
return found
