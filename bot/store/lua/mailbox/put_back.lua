-- With _in_order.lua.
-- KEYS: mailbox, threads, request, run of the request.
-- ARGV: id, request, thread, expiry in seconds, prefix of requests.
-- Returns 0 if the request has expired.
if not redis.call('SET', KEYS[3], ARGV[2], 'XX', 'EX', ARGV[4]) then return 0 end
redis.call('DEL', KEYS[4])
redis.call('LREM', KEYS[1], 0, ARGV[1])
insert(KEYS[1], ARGV[5], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('SADD', KEYS[2], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[4])
return 1
