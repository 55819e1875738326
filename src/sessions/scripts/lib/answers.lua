-- Idempotency: k:hash → '1 digest owner waited' while it is claimed, with the lease as its TTL; km hash → '1 digest status bytes', ka hash → '1 ' body,
-- kz hashes in their order once it is answered (reading §8.8).

local function pendingKey(session, hash)
  return lasting(session, 'k:' .. hash)
end

local function pendingClaim(session, hash)
  local value = call('GET', pendingKey(session, hash))
  if not value then return nil end
  local digest, owner, waited = string.match(value, '^1 (%x+) (%S+) ([01])$')
  if digest and redis.call('PTTL', pendingKey(session, hash)) >= 0 then
    return { digest = digest, owner = owner, waited = waited == '1' }
  end
  note(pendingKey(session, hash), 'is no claim of format 1')
  redis.call('DEL', pendingKey(session, hash))
  return nil
end

local function openAnswers(session)
  session.ka, session.km, session.kz = lasting(session, 'ka'), lasting(session, 'km'), lasting(session, 'kz')
  local count = call('ZCARD', session.kz)
  if call('HLEN', session.ka) ~= count or call('HLEN', session.km) ~= count then
    note(session.kz, 'does not fit its answers and starts anew')
    redis.call('UNLINK', session.ka, session.km, session.kz)
  end
end

local function answered(session, hash)
  local value = call('HGET', session.km, hash)
  if not value then return nil end
  local digest, status, bytes = string.match(value, '^1 (%x+) (%d+) (%d+)$')
  local body = call('HGET', session.ka, hash)
  if digest and body and string.sub(body, 1, 2) == '1 ' and #body == tonumber(bytes) + 2 then
    return { digest = digest, status = status, body = string.sub(body, 3) }
  end
  note(session.km, 'holds an answer that is not of format 1')
  redis.call('HDEL', session.km, hash)
  redis.call('HDEL', session.ka, hash)
  redis.call('ZREM', session.kz, hash)
  return nil
end

local function endClaim(session, hash, wakeChannel)
  local claim = pendingClaim(session, hash)
  if not claim then return end
  redis.call('DEL', pendingKey(session, hash))
  if claim.waited then redis.call('PUBLISH', wakeChannel, pendingKey(session, hash)) end
end

-- The first answer stays.
local function putAnswer(session, bounds, hash, digest, status, body, wakeChannel)
  if not answered(session, hash) then
    redis.call('HSET', session.km, hash, table.concat({ '1', digest, status, #body }, ' '))
    redis.call('HSET', session.ka, hash, '1 ' .. body)
    redis.call('ZADD', session.kz, add(session.base, 'n', 1), hash)
    local hashes, bytes = redis.call('ZRANGE', session.kz, 0, -1), 0
    for _, other in ipairs(hashes) do bytes = bytes + redis.call('HSTRLEN', session.ka, other) - 2 end
    for i = 1, #hashes - 1 do
      if #hashes - i + 1 <= bounds.answers and bytes <= bounds.answerBytes then break end
      bytes = bytes - redis.call('HSTRLEN', session.ka, hashes[i]) + 2
      redis.call('HDEL', session.km, hashes[i])
      redis.call('HDEL', session.ka, hashes[i])
      redis.call('ZREM', session.kz, hashes[i])
    end
    for _, key in ipairs({ session.ka, session.km, session.kz }) do redis.call('PEXPIRE', key, session.keep) end
  end
  endClaim(session, hash, wakeChannel)
end
