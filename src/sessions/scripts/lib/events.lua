-- The event log: e a list of '1 id at type data', em n → the last id, b → bytes in the list. Listeners are told the id.

local function appendEvent(session, bounds, event, data)
  local list, counters = lasting(session, 'e'), lasting(session, 'em')
  if redis.call('EXISTS', counters) == 0 then
    -- The server evicted the counters: ids go on behind the last event, if that is still there.
    local last = call('LINDEX', list, -1)
    redis.call('UNLINK', list)
    redis.call('HSET', counters, 'n', last and string.match(last, '^1 (%d+) ') or 0)
  end
  if call('LLEN', list) == 0 then redis.call('HSET', counters, 'b', 0) end
  local id = whole(add(counters, 'n', 1))
  local value = table.concat({ '1', id, whole(now()), event, data }, ' ')
  redis.call('RPUSH', list, value)
  local bytes = add(counters, 'b', #value)
  local count = redis.call('LLEN', list)
  while count > 1 and (count > bounds.events or bytes > bounds.eventBytes) do
    bytes = add(counters, 'b', 0 - #redis.call('LPOP', list))
    count = count - 1
  end
  redis.call('PEXPIRE', list, session.keep)
  redis.call('PEXPIRE', counters, session.keep)
  redis.call('PUBLISH', lasting(session, 'live'), id)
end
