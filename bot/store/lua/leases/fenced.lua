-- With _in_order.lua.
-- With _charge.lua.
-- KEYS: lease, mark of this write. ARGV: token, expiry of the mark in seconds, number of commands that
-- write, then these and commands that read, each preceded by its number of parts. Runs all that write
-- or none, and none if the write is repeated. Returns the replies of those that read.
-- INSERT calls the function of _in_order.lua, and CHARGE that of _charge.lua, with the number of its
-- keys before its arguments. HINCRBY skips a damaged counter, or the error would end every run that
-- counts there.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return redis.error_reply('LEASELOST') end
local is_new = redis.call('SET', KEYS[2], '1', 'NX', 'EX', ARGV[2])

local function write(name, first, last)
  if name == 'INSERT' then
    insert(unpack(ARGV, first + 1, last))
  elseif name == 'CHARGE' then
    local keys = tonumber(ARGV[first + 1])
    local args = first + 2 + keys
    charge({unpack(ARGV, first + 2, args - 1)}, {unpack(ARGV, args, last)})
  elseif name == 'HINCRBY' then
    redis.pcall(unpack(ARGV, first, last))
  else
    redis.call(unpack(ARGV, first, last))
  end
end

local writes, replies, at = tonumber(ARGV[3]), {}, 4
while at <= #ARGV do
  local first, last = at + 1, at + tonumber(ARGV[at])
  if writes == 0 then
    replies[#replies + 1] = redis.call(unpack(ARGV, first, last))
  else
    writes = writes - 1
    if is_new then write(ARGV[first], first, last) end
  end
  at = last + 1
end
return replies
