-- With _charge.lua.
-- KEYS and ARGV are those of its function.
return charge(KEYS, ARGV)
