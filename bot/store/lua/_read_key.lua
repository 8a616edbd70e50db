-- Returns a key with its type, milliseconds to live and value; false if it is gone.
local function read_key(key)
  local kind, value = redis.call('TYPE', key)['ok'], nil
  if kind == 'string' then value = redis.call('GET', key)
  elseif kind == 'hash' then value = redis.call('HGETALL', key)
  elseif kind == 'list' then value = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'set' then value = redis.call('SMEMBERS', key)
  elseif kind == 'zset' then value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  elseif kind == 'stream' then value = redis.call('XRANGE', key, '-', '+')
  else return false end
  return {key, kind, redis.call('PTTL', key), value}
end
