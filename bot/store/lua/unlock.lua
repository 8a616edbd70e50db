-- KEYS: lock. ARGV: token. Releases the lock, unless another process has it by now.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
