-- KEYS: mailbox, claim of the message, parked, prefix of runs of requests, prefix of approvals,
-- pending audit entries. ARGV: user, decision, audit entry, expiry in seconds.
-- Decides the approvals that the run of the thread's head requested for that user; returns how many.
-- Does nothing if the message already has a run: then Slack has delivered it again.
local head, asked = redis.call('LINDEX', KEYS[1], 0), redis.call('GET', KEYS[2])
if not head or not asked or redis.call('EXISTS', KEYS[4] .. asked) == 1 then return 0 end
local run = redis.call('GET', KEYS[4] .. head)
if not run then return 0 end
local approvals, answered = KEYS[5] .. run, 0
for _, field in ipairs(redis.call('HKEYS', approvals)) do
  local id = string.match(field, '^asked:(.*)$')
  local readable, question = pcall(cjson.decode, id and redis.call('HGET', approvals, field) or '')
  if readable and question.requester == ARGV[1] then
    answered = answered + redis.call('HSETNX', approvals, 'said:' .. id, ARGV[2])
  end
end
if answered > 0 then
  redis.call('DEL', KEYS[3])
  redis.call('RPUSH', KEYS[6], ARGV[3])
  redis.call('EXPIRE', KEYS[6], ARGV[4])
end
return answered
