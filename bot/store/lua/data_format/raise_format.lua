-- KEYS: format of the data. ARGV: format of this version, expiry in seconds. Stores the format unless
-- a newer one is stored, or a restore has not ended. Returns what was stored before, '' for nothing.
local before = redis.call('GET', KEYS[1]) or ''
if before == '' or (tonumber(before) or math.huge) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
end
return before
