-- KEYS: approvals of the run, standing approval, parked, pending audit entries.
-- ARGV: id, digest that was shown, user, decision, expiry of a standing approval and of the rest in
-- seconds, audit entry.
-- Returns nil if this decision counts, also if it is repeated after a lost reply; else why not.
local readable, question = pcall(cjson.decode, redis.call('HGET', KEYS[1], 'asked:' .. ARGV[1]) or '')
if not readable then return 'unknown' end
local allowed = false
for _, user in ipairs(question.approvers) do allowed = allowed or user == ARGV[3] end
if not allowed then return 'forbidden' end
if question.sha256 ~= ARGV[2] then return 'changed' end
local said = redis.call('HGET', KEYS[1], 'said:' .. ARGV[1])
if said then return said ~= ARGV[4] and 'decided' or nil end
if tonumber(redis.call('TIME')[1]) >= question.expires then return 'expired' end
redis.call('HSET', KEYS[1], 'said:' .. ARGV[1], ARGV[4])
redis.call('EXPIRE', KEYS[1], ARGV[6])
if tonumber(ARGV[5]) > 0 then redis.call('SET', KEYS[2], ARGV[4], 'EX', ARGV[5]) end
redis.call('DEL', KEYS[3])
redis.call('RPUSH', KEYS[4], ARGV[7])
redis.call('EXPIRE', KEYS[4], ARGV[6])
return nil
