-- A permit at `key` and its queue: key → token of the owner, with the lease as its TTL; key:q waiters in their order; key:x until when each is alive.
-- A waiter that does not call again within its ticket's time is dead and passed over (reading §8.3).

local queueMs = 120000

local function firstAlive(key)
  for _, token in ipairs(call('ZRANGE', key .. ':q', 0, -1)) do
    if call('ZSCORE', key .. ':x', token) then return token end
    redis.call('ZREM', key .. ':q', token)
  end
  return nil
end

-- True when `token` holds the permit now. Else, if it may wait, it stands in the queue.
local function acquire(key, token, leaseMs, ticketMs, mayWait)
  local owner = call('GET', key)
  if owner == token then
    redis.call('PEXPIRE', key, leaseMs)
    return true
  end
  if owner and redis.call('PTTL', key) == -1 then
    note(key, 'is a permit without a lease')
    redis.call('DEL', key)
    owner = false
  end
  local at = now()
  call('ZREMRANGEBYSCORE', key .. ':x', '-inf', at)
  if not owner then
    local first = firstAlive(key)
    if not first or first == token then
      redis.call('SET', key, token, 'PX', leaseMs)
      redis.call('ZREM', key .. ':q', token)
      redis.call('ZREM', key .. ':x', token)
      return true
    end
  end
  if mayWait then
    if not call('ZSCORE', key .. ':q', token) then
      local last = redis.call('ZRANGE', key .. ':q', -1, -1, 'WITHSCORES')
      redis.call('ZADD', key .. ':q', (tonumber(last[2]) or 0) + 1, token)
    end
    redis.call('ZADD', key .. ':x', at + ticketMs, token)
    redis.call('PEXPIRE', key .. ':q', queueMs)
    redis.call('PEXPIRE', key .. ':x', queueMs)
  end
  return false
end

-- Ends whatever `token` has of the permit, its place in the queue included, and wakes the next one.
local function leave(key, token, wakeChannel)
  if call('GET', key) == token then redis.call('DEL', key) end
  call('ZREM', key .. ':q', token)
  call('ZREM', key .. ':x', token)
  if redis.call('EXISTS', key) == 0 then
    local first = firstAlive(key)
    if first then redis.call('PUBLISH', wakeChannel, first) end
  end
end

local function wakeAll(key, wakeChannel)
  for _, token in ipairs(call('ZRANGE', key .. ':q', 0, -1)) do redis.call('PUBLISH', wakeChannel, token) end
end
