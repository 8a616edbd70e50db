-- With _in_order.lua.
-- KEYS: lease, mark of this write. ARGV: token, expiry of the mark in seconds, then commands, each
-- preceded by its number of parts. Runs all commands or none, and none if the write is repeated.
-- INSERT calls the function of _in_order.lua. HINCRBY skips a damaged counter, or the error would end
-- every run that counts there.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return redis.error_reply('LEASELOST') end
if not redis.call('SET', KEYS[2], '1', 'NX', 'EX', ARGV[2]) then return 0 end
local at = 3
while at <= #ARGV do
  local parts = tonumber(ARGV[at])
  if ARGV[at + 1] == 'INSERT' then
    insert(unpack(ARGV, at + 2, at + parts))
  elseif ARGV[at + 1] == 'HINCRBY' then
    redis.pcall(unpack(ARGV, at + 1, at + parts))
  else
    redis.call(unpack(ARGV, at + 1, at + parts))
  end
  at = at + parts + 1
end
return 1
