-- KEYS: event claim, message claim, request, mailbox, threads.
-- ARGV: request id, request, thread, seconds of claims, seconds of requests, prefix of requests.
-- Returns 1 for a new request, also when its own reply was lost; 0 for one seen before.
-- Events arrive in any order; requests wait in that of their messages, behind the head, which runs.
local function said_at(request)
  local readable, fields = pcall(cjson.decode, request or '')
  return readable and type(fields) == 'table' and tonumber(fields.ts) or 0
end
local function insert()
  local last = redis.call('LLEN', KEYS[4]) - 1
  local at, when = last, said_at(ARGV[2])
  while at > 0 and said_at(redis.call('GET', ARGV[6] .. redis.call('LINDEX', KEYS[4], at))) > when do
    at = at - 1
  end
  if at == last then return redis.call('RPUSH', KEYS[4], ARGV[1]) end
  return redis.call('LINSERT', KEYS[4], 'AFTER', redis.call('LINDEX', KEYS[4], at), ARGV[1])
end
local claims = redis.call('MGET', KEYS[1], KEYS[2])
for _, holder in ipairs(claims) do
  if holder and holder ~= ARGV[1] then return 0 end
end
if claims[2] then return 1 end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[4])
redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[4])
redis.call('SET', KEYS[3], ARGV[2], 'EX', ARGV[5])
insert()
redis.call('EXPIRE', KEYS[4], ARGV[5])
redis.call('SADD', KEYS[5], ARGV[3])
redis.call('EXPIRE', KEYS[5], ARGV[5])
return 1
