-- With _in_order.lua.
-- With _charge.lua.
-- KEYS: lease, mark of this write. ARGV: token, expiry of the mark in seconds, number of commands that
-- write, number of commands that write and may fail, then these and commands that read, each preceded
-- by its number of parts. Runs all that write or none, and none if the write is repeated. Returns for
-- each that may fail why it did, '' if it did not; then the replies of those that read.
-- INSERT calls the function of _in_order.lua, and CHARGE that of _charge.lua, with the number of its
-- keys before its arguments.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return redis.error_reply('LEASELOST') end
local is_new = redis.call('SET', KEYS[2], '1', 'NX', 'EX', ARGV[2])

local function write(name, first, last)
  if name == 'INSERT' then
    insert(unpack(ARGV, first + 1, last))
  elseif name == 'CHARGE' then
    local keys = tonumber(ARGV[first + 1])
    local args = first + 2 + keys
    charge({unpack(ARGV, first + 2, args - 1)}, {unpack(ARGV, args, last)})
  else
    redis.call(unpack(ARGV, first, last))
  end
end

-- Redis takes nothing back: what may fail comes last, and its error ends neither the rest nor the script.
local function failure(first, last)
  local is_done, reply = pcall(function() return redis.call(unpack(ARGV, first, last)) end)
  return is_done and '' or type(reply) == 'table' and reply.err or tostring(reply)
end

local writes, may_fail, replies, at = tonumber(ARGV[3]), tonumber(ARGV[4]), {}, 5
while at <= #ARGV do
  local first, last = at + 1, at + tonumber(ARGV[at])
  if writes > 0 then
    writes = writes - 1
    if is_new then write(ARGV[first], first, last) end
  elseif may_fail > 0 then
    may_fail = may_fail - 1
    replies[#replies + 1] = is_new and failure(first, last) or ''
  else
    replies[#replies + 1] = redis.call(unpack(ARGV, first, last))
  end
  at = last + 1
end
return replies
