-- KEYS: mailbox, prefix of signals, parked. ARGV: request id or '', user, seconds, channel.
-- Returns the id of the request to stop, or nil when there is none.
local id = ARGV[1]
if id == '' then id = redis.call('LINDEX', KEYS[1], 0) end
if not id or not redis.call('LPOS', KEYS[1], id) then return false end
redis.call('SET', KEYS[2] .. id, ARGV[2], 'EX', ARGV[3])
redis.call('DEL', KEYS[3])
redis.call('PUBLISH', ARGV[4], cjson.encode({request_id = id, by = ARGV[2]}))
return id
