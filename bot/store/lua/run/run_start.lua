-- With _take_lease.lua.
-- KEYS: lease, run of the request, prefix of runs, parked, cancelled, request, paused, pseudonym of who asked.
-- ARGV: run, request, thread, expiry of the lease, the run and a pause in seconds, a new pseudonym, its expiry.
-- Takes a lease. Returns its token, the fields of the request's run as they were before, the pause, who wants the
-- request stopped, and the pseudonym, which is gone if the person was erased; begins a new run if the request has
-- none. A run that waited is running from now on. A request withdrawn in the meantime gets no run.
local token = take_lease(KEYS[1], ARGV[4])
local pause = redis.call('GETEX', KEYS[7], 'EX', ARGV[4])
local stopped_by = redis.call('GET', KEYS[5])
local pseudonym = redis.call('GETEX', KEYS[8], 'EX', ARGV[6])
local existing = redis.call('GET', KEYS[2])
if existing then
  local fields = redis.call('HGETALL', KEYS[3] .. existing)
  if #fields > 0 then
    if redis.call('HGET', KEYS[3] .. existing, 'phase') == 'waiting' then
      redis.call('HSET', KEYS[3] .. existing, 'phase', 'running')
    end
    redis.call('DEL', KEYS[4])
    return {token, fields, pause, stopped_by, pseudonym}
  end
end
if stopped_by and redis.call('EXISTS', KEYS[6]) == 0 then
  return redis.error_reply('LEASELOST')
end
local run = KEYS[3] .. ARGV[1]
redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[4])
local fields = {'run_id', ARGV[1], 'request_id', ARGV[2], 'thread_key', ARGV[3], 'phase', 'running'}
redis.call('HSET', run, unpack(fields))
redis.call('EXPIRE', run, ARGV[4])
if not pseudonym then
  pseudonym = ARGV[5]
  redis.call('SET', KEYS[8], pseudonym, 'EX', ARGV[6])
end
return {token, fields, pause, stopped_by, pseudonym}
