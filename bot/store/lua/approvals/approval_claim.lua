-- KEYS: approvals of the run. ARGV: id, digest of the call about to be made, the decisions "expired"
-- and "changed". Returns the decision, nil while there is none. An approval counts only for the same
-- digest, and only until it expires, unless the call has already gone ahead with it. The answer to a
-- question, which came in time, counts for ever.
local readable, question = pcall(cjson.decode, redis.call('HGET', KEYS[1], 'asked:' .. ARGV[1]) or '')
if not readable or question.sha256 ~= ARGV[2] then return ARGV[4] end
local said = redis.call('HGET', KEYS[1], 'said:' .. ARGV[1])
if redis.call('HEXISTS', KEYS[1], 'used:' .. ARGV[1]) == 1 then return said end
local verdict = said and cjson.decode(said).verdict
local allows = verdict == 'approved' or verdict == 'standing'
if verdict and not allows then return said end
local is_late = tonumber(redis.call('TIME')[1]) >= question.expires
if is_late and not (allows and question.is_question) then
  redis.call('HSET', KEYS[1], 'said:' .. ARGV[1], ARGV[3])
  return ARGV[3]
end
if allows then redis.call('HSET', KEYS[1], 'used:' .. ARGV[1], ARGV[2]) end
return said
