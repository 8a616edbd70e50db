-- KEYS: lease, run of the request, prefix of runs, parked, cancelled, request, paused.
-- ARGV: token, run, request, thread, expiry of the run and of a pause in seconds.
-- Returns the fields of the request's run as they were before, and the pause; begins a new run if it has none. A run
-- that waited is running from now on. A request withdrawn in the meantime gets no run.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return redis.error_reply('LEASELOST') end
local pause = redis.call('GETEX', KEYS[7], 'EX', ARGV[5])
local existing = redis.call('GET', KEYS[2])
if existing then
  local fields = redis.call('HGETALL', KEYS[3] .. existing)
  if #fields > 0 then
    if redis.call('HGET', KEYS[3] .. existing, 'phase') == 'waiting' then
      redis.call('HSET', KEYS[3] .. existing, 'phase', 'running')
    end
    redis.call('DEL', KEYS[4])
    return {fields, pause}
  end
end
if redis.call('EXISTS', KEYS[5]) == 1 and redis.call('EXISTS', KEYS[6]) == 0 then
  return redis.error_reply('LEASELOST')
end
local run = KEYS[3] .. ARGV[2]
redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[5])
local fields = {'run_id', ARGV[2], 'request_id', ARGV[3], 'thread_key', ARGV[4], 'phase', 'running'}
redis.call('HSET', run, unpack(fields))
redis.call('EXPIRE', run, ARGV[5])
return {fields, pause}
