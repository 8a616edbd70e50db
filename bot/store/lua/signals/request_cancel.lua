-- KEYS: mailbox, signal, parked. ARGV: request id, user, expiry in seconds, channel.
-- Returns 0 if the request is not in the mailbox.
if not redis.call('LPOS', KEYS[1], ARGV[1]) then return 0 end
redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
redis.call('DEL', KEYS[3])
redis.call('PUBLISH', ARGV[4], cjson.encode({request_id = ARGV[1], by = ARGV[2]}))
return 1
