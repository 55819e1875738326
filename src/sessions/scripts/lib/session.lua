-- What every script knows of a session: its hash at `base`, keys of its epoch, keys that last until its end. All lie in the slot of `base`.

-- The session when it is one of ours and, unless `epoch` is '', of that epoch. `keep` is how long the keys below it live without a call: longer than
-- the session itself, so that only the session's own key decides about its end.
local function alive(base, epoch)
  local fields = call('HMGET', base, 'f', 'epoch', 'ttl')
  if fields[1] ~= '1' or not string.match(fields[2] or '', '^%d+$') or not string.match(fields[3] or '', '^%d+$') then
    if redis.call('EXISTS', base) == 1 then note(base, 'is no session of format 1') end
    return nil
  end
  if epoch ~= '' and fields[2] ~= epoch then return nil end
  local ttl = tonumber(fields[3])
  return { base = base, epoch = fields[2], ttl = ttl, keep = 2 * ttl }
end

local function own(session, name)
  return session.base .. ':' .. session.epoch .. ':' .. name
end

local function lasting(session, name)
  return session.base .. ':' .. name
end

local function textKey(session, digest)
  return own(session, 't:' .. digest)
end

local epochKeys = { 'h', 'ld', 'ls', 't', 'g', 'gz', 'r', 'rc', 'rz' }
local lastingKeys = { 'v', 'vm', 've', 'vb', 'ka', 'km', 'kz', 'e', 'em', 'in' }

local function textDigests(session)
  local digests = {}
  for _, field in ipairs(call('HKEYS', own(session, 't'))) do
    if string.sub(field, 1, 2) == 'b:' then digests[#digests + 1] = string.sub(field, 3) end
  end
  return digests
end

-- All keys of the epoch, texts included.
local function unlinkEpoch(session)
  for _, digest in ipairs(textDigests(session)) do redis.call('UNLINK', textKey(session, digest)) end
  for _, name in ipairs(epochKeys) do redis.call('UNLINK', own(session, name)) end
end

-- Gives every key below the session its full time again.
local function refresh(session)
  for _, digest in ipairs(textDigests(session)) do redis.call('PEXPIRE', textKey(session, digest), session.keep) end
  for _, name in ipairs(epochKeys) do redis.call('PEXPIRE', own(session, name), session.keep) end
  for _, name in ipairs(lastingKeys) do redis.call('PEXPIRE', lasting(session, name), session.keep) end
end

-- The session as `open`, `create` and `switch` answer it: time left, the clock, then its fields.
local function shown(session)
  return answer('open', redis.call('PTTL', session.base), whole(now()), redis.call('HGETALL', session.base))
end
