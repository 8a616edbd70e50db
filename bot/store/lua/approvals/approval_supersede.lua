-- KEYS: mailbox, claim of the message, parked, prefix of runs of requests, prefix of approvals,
-- pending audit entries, prefix of runs, prefix of stops.
-- ARGV: user, decision, audit entry, expiry in seconds; ts of the message, the decision that it makes
-- about a question, and the audit entry of that, each '' if it answers none.
-- Decides the approvals that the run of the thread's head requested for that user; returns how many.
-- A message that answers a question becomes part of the run. It answers none that was asked after it
-- was written, that has expired, or whose run is over or is to be stopped. A question that the asker
-- alone reads elsewhere stays open.
-- Does nothing if the message already has a run: then Slack has delivered it again.
local head, asked = redis.call('LINDEX', KEYS[1], 0), redis.call('GET', KEYS[2])
if not head or not asked or redis.call('EXISTS', KEYS[4] .. asked) == 1 then return 0 end
local run = redis.call('GET', KEYS[4] .. head)
if not run then return 0 end
local approvals, record, now = KEYS[5] .. run, KEYS[7] .. run, tonumber(redis.call('TIME')[1])
local goes_on = redis.call('HEXISTS', record, 'outcome') == 0
  and redis.call('EXISTS', KEYS[8] .. head) == 0
local denied, answered = 0, 0
for _, field in ipairs(redis.call('HKEYS', approvals)) do
  local id = string.match(field, '^asked:(.*)$')
  local readable, question = pcall(cjson.decode, id and redis.call('HGET', approvals, field) or '')
  if readable and question.requester == ARGV[1] then
    local said = 'said:' .. id
    local answers = question.is_question and ARGV[5] ~= '' and goes_on
      and tonumber(ARGV[5]) >= question.asked_at
    local is_elsewhere = question.is_question and question.private
    if not (answers or is_elsewhere) then
      denied = denied + redis.call('HSETNX', approvals, said, ARGV[2])
    elseif answers and not is_elsewhere and now < question.expires then
      answered = answered + redis.call('HSETNX', approvals, said, ARGV[6])
    end
  end
end
if answered > 0 then
  local joined = redis.call('HGET', record, 'joined')
  redis.call('HSET', record, 'joined', joined and joined ~= '' and joined .. ' ' .. asked or asked)
  redis.call('LREM', KEYS[1], 1, asked)
  redis.call('SET', KEYS[4] .. asked, run, 'EX', ARGV[4])
  redis.call('RPUSH', KEYS[6], ARGV[7])
end
if denied > 0 then redis.call('RPUSH', KEYS[6], ARGV[3]) end
if denied + answered > 0 then
  redis.call('DEL', KEYS[3])
  redis.call('EXPIRE', KEYS[6], ARGV[4])
end
return denied + answered
