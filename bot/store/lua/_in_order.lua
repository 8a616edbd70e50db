-- Insert request `id` into `mailbox` in the order of the messages, but behind the head, which is
-- running. An edit gets the place of the edited message. `prefix` is that of request keys.
local function insert(mailbox, prefix, id)
  local function said_at(each)
    local readable, fields = pcall(cjson.decode, redis.call('GET', prefix .. each) or '')
    if not readable or type(fields) ~= 'table' then return 0 end
    return tonumber(fields.message) or tonumber(fields.ts) or 0
  end
  local last = redis.call('LLEN', mailbox) - 1
  local at = last
  if at > 0 then
    local when = said_at(id)
    while at > 0 and said_at(redis.call('LINDEX', mailbox, at)) > when do at = at - 1 end
  end
  if at == last then return redis.call('RPUSH', mailbox, id) end
  return redis.call('LINSERT', mailbox, 'AFTER', redis.call('LINDEX', mailbox, at), id)
end
