-- With _read_key.lua.
-- KEYS: keys to read. Returns each as read_key does.
local found = {}
for _, key in ipairs(KEYS) do found[#found + 1] = read_key(key) end
return found
