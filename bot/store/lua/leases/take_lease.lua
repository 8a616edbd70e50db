-- With _take_lease.lua.
-- KEYS: lease. ARGV: expiry in seconds. Returns the new token.
return take_lease(KEYS[1], ARGV[1])
