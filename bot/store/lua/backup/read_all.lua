-- With _read_key.lua.
-- ARGV: prefix, and by family (what follows the prefix) 'never' or 'later' as JSON. Returns the keys
-- of the families that are read later, and every other key as read_key does, all at one moment.
local prefix, how = ARGV[1], cjson.decode(ARGV[2])
local later, found, seen, cursor = {}, {}, {}, '0'
repeat
  local page = redis.call('SCAN', cursor, 'MATCH', prefix .. '*', 'COUNT', 1000)
  cursor = page[1]
  for _, key in ipairs(page[2]) do
    local when = how[string.match(key, '^[^:]*', #prefix + 1)]
    if not seen[key] and when ~= 'never' then
      if when == 'later' then later[#later + 1] = key else found[#found + 1] = read_key(key) end
    end
    seen[key] = true
  end
until cursor == '0'
return {later, found}
