-- Take the lease `key` for `seconds`. Returns its token, which is greater than all before it.
-- Tokens follow the clock, in microseconds, so they grow even if Redis lost its last second of writes in a crash.
local function take_lease(key, seconds)
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
  local last = tonumber(redis.call('GET', key) or '0') or 0
  local token = string.format('%.0f', math.max(last + 1, now))
  redis.call('SET', key, token, 'EX', seconds)
  return token
end
