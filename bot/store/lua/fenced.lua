-- With _in_order.lua.
-- KEYS: lease, mark of this write. ARGV: token, seconds of the mark, then commands, each preceded
-- by how many parts it has. All of them are run, or none; none the second time. INSERT is one of ours.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return redis.error_reply('LEASELOST') end
if not redis.call('SET', KEYS[2], '1', 'NX', 'EX', ARGV[2]) then return 0 end
-- A counter that is no number any more begins anew: it must not end every run that is to be counted.
local function run(...)
  if ... == 'INSERT' then return insert(select(2, ...)) and nil end
  local reply = redis.pcall(...)
  if type(reply) ~= 'table' or not reply.err then return end
  local command, key, field, increment = ...
  if command ~= 'HINCRBY' then return reply end
  redis.call('HSET', key, field, increment)
end
local at = 3
while at <= #ARGV do
  local parts = tonumber(ARGV[at])
  local failed = run(unpack(ARGV, at + 1, at + parts))
  if failed then return failed end
  at = at + parts + 1
end
return 1
