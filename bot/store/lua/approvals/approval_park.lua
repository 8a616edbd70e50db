-- KEYS: lease, run, approvals of the run, parked, cancelled, request, mailbox, threads.
-- ARGV: token, run id, until (seconds since the epoch), expiry of requests in seconds, approval ids.
-- Returns "parked", or why the thread was not parked: the request was cancelled or an approval decided.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return redis.error_reply('LEASELOST') end
if redis.call('EXISTS', KEYS[5]) == 1 then return 'cancelled' end
for at = 5, #ARGV do
  if redis.call('HEXISTS', KEYS[3], 'said:' .. ARGV[at]) == 1 then return 'decided' end
end
local left = math.max(1, tonumber(ARGV[3]) - tonumber(redis.call('TIME')[1]))
redis.call('HSET', KEYS[2], 'phase', 'waiting')
redis.call('SET', KEYS[4], ARGV[2], 'EX', left)
for at = 6, 8 do redis.call('EXPIRE', KEYS[at], left + tonumber(ARGV[4])) end
return 'parked'
