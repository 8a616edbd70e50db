-- KEYS: mailbox, threads. ARGV: prefix of requests, thread.
-- Returns {id, request} of the head, or nil. Removes requests that have expired.
while true do
  local id = redis.call('LINDEX', KEYS[1], 0)
  if not id then
    redis.call('SREM', KEYS[2], ARGV[2])
    return false
  end
  local request = redis.call('GET', ARGV[1] .. id)
  if request then return {id, request} end
  redis.call('LPOP', KEYS[1])
end
