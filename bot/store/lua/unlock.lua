-- Give a lock back, unless it is somebody else's by now.
-- KEYS[1] lock; ARGV[1] its token
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
