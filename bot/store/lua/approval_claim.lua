-- KEYS: approvals of the run. ARGV: id, digest of what is about to be done, the decisions "expired"
-- and "changed". Returns what was said, nil while nothing was. What was approved counts for the same
-- digest only, and until it expires, unless the call went ahead on it before.
local readable, question = pcall(cjson.decode, redis.call('HGET', KEYS[1], 'asked:' .. ARGV[1]) or '')
if not readable or question.sha256 ~= ARGV[2] then return ARGV[4] end
local said = redis.call('HGET', KEYS[1], 'said:' .. ARGV[1])
if redis.call('HEXISTS', KEYS[1], 'used:' .. ARGV[1]) == 1 then return said end
local verdict = said and cjson.decode(said).verdict
local allows = verdict == 'approved' or verdict == 'standing'
if verdict and not allows then return said end
if tonumber(redis.call('TIME')[1]) >= question.expires then
  redis.call('HSET', KEYS[1], 'said:' .. ARGV[1], ARGV[3])
  return ARGV[3]
end
if allows then redis.call('HSET', KEYS[1], 'used:' .. ARGV[1], ARGV[2]) end
return said
