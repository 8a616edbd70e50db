-- KEYS: paused; then for each capped account: its spending, raise and holds.
-- ARGV: 1, 2 expiry of the pause and of the hold keys in seconds; 3, 4 id of the call and of its run
-- (the call's id begins with it and a slash); 5 'first', 'last' or '': place of the call in its run;
-- 6 '1' for the first reservation of a worker that took over the run; 7, 8 expiry in seconds of the
-- hold for the call, and of the hold for the run's last call; 9 to 14 tokens and nanodollars of the
-- maximum of the call, of its likely cost, and of the likely cost of a last call; then for each
-- account its holder and its caps in tokens and nanodollars, '' for none.
-- Returns {verdict, number of the account that decided it, the pause}.
--
-- The maximums of all calls in progress must fit into what is left. A call whose maximum is too large
-- may run alone, so at most one call can exceed a cap. A run keeps the hold for its last call until it
-- ends, so that other runs cannot use up that amount.
local pause = redis.call('GETEX', KEYS[1], 'EX', ARGV[1])
if pause then return {'paused', 0, pause} end

local call_id, run_id, place, takes_over = ARGV[3], ARGV[4], ARGV[5], ARGV[6] == '1'
local most = {tonumber(ARGV[9]), tonumber(ARGV[10])}
local likely = {tonumber(ARGV[11]), tonumber(ARGV[12])}
local last = {tonumber(ARGV[13]), tonumber(ARGV[14])}
local ACCOUNTS = 15  -- where their arguments begin
local now = tonumber(redis.call('TIME')[1])
local ranks = {go = 1, tight = 2, held = 3, full = 4}
local verdict, about = 'go', 0

local function factor_of(raise)
  local is_read, value = pcall(cjson.decode, raise or '')
  return is_read and type(value) == 'table' and tonumber(value.factor) or 1
end

-- `others` counts the holds of other runs and of other calls of this run; `calls` counts those of them
-- that belong to calls in progress. `keeps_last`: the run has a hold for its last call.
local function judged(room, held, most, likely, last, others, calls, keeps_last)
  if room <= 0 then return 'full' end
  if place == 'last' then
    local is_next = calls == 0 and (keeps_last or others == 0)
    return (held + most <= room or is_next) and 'go' or 'held'
  end
  if held + (calls == 0 and likely or most) + last <= room then return 'go' end
  if place == 'first' then return others == 0 and 'go' or 'held' end
  return calls == 0 and 'tight' or 'held'
end

for n = 1, (#KEYS - 1) / 3 do
  local spent_key, raise_key, holds_key = KEYS[3 * n - 1], KEYS[3 * n], KEYS[3 * n + 1]
  local at = ACCOUNTS + 3 * (n - 1)
  local holder = ARGV[at]
  local held, others, calls, keeps_last = {0, 0}, 0, 0, false
  local holds = redis.call('HGETALL', holds_key)
  for i = 1, #holds, 2 do
    local id = holds[i]
    local expires, tokens, nanodollars = string.match(holds[i + 1], '^(%d+) (%d+) (%d+)$')
    local is_call = string.find(id, '/', 1, true) ~= nil
    local is_left = takes_over and string.sub(id, 1, #run_id + 1) == run_id .. '/'
    if not expires or tonumber(expires) <= now or (is_left and id ~= call_id) then
      redis.call('HDEL', holds_key, id)
    elseif id == run_id then
      keeps_last = true
    elseif id ~= call_id then
      held = {held[1] + tonumber(tokens), held[2] + tonumber(nanodollars)}
      others = others + 1
      if is_call then calls = calls + 1 end
    end
  end
  local spent = redis.call('HMGET', spent_key, 'tokens ' .. holder, 'nanodollars ' .. holder)
  local factor = factor_of(redis.call('GET', raise_key))
  for i = 1, 2 do
    local cap = tonumber(ARGV[at + i])
    if cap then
      local room = cap * factor - (tonumber(spent[i] or '0') or 0)
      local found = judged(room, held[i], most[i], likely[i], last[i], others, calls, keeps_last)
      if ranks[found] > ranks[verdict] then verdict, about = found, n end
    end
  end
end
if verdict ~= 'go' then  -- a waiting call holds nothing; its run keeps the hold for its last call
  for n = 1, (#KEYS - 1) / 3 do
    redis.call('HDEL', KEYS[3 * n + 1], call_id, place == 'first' and run_id or call_id)
  end
  return {verdict, about, ''}
end

local function hold(seconds, amounts)
  return string.format('%d %.0f %.0f', now + seconds, amounts[1], amounts[2])
end

for n = 1, (#KEYS - 1) / 3 do
  local holds_key = KEYS[3 * n + 1]
  redis.call('HSET', holds_key, call_id, hold(ARGV[7], most))
  if place == 'last' then
    redis.call('HDEL', holds_key, run_id)
  else
    redis.call('HSET', holds_key, run_id, hold(ARGV[8], last))
  end
  redis.call('EXPIRE', holds_key, ARGV[2])
end
return {'go', 0, ''}
