-- Registers: r name → '1 bytes lines updatedAt', rc name → packed content, rz names by recency of use (contract §7.5).

local function openRegisters(session)
  session.r, session.rc, session.rz = own(session, 'r'), own(session, 'rc'), own(session, 'rz')
  if call('HLEN', session.r) ~= call('ZCARD', session.rz) or call('HLEN', session.rc) ~= redis.call('HLEN', session.r) then
    note(session.r, 'does not fit its contents and starts anew')
    redis.call('UNLINK', session.r, session.rc, session.rz)
  end
end

local function dropRegister(session, name)
  redis.call('HDEL', session.r, name)
  redis.call('HDEL', session.rc, name)
  redis.call('ZREM', session.rz, name)
end

local function putRegister(session, bounds, name, bytes, lines, content)
  redis.call('HSET', session.r, name, table.concat({ '1', bytes, lines, whole(now()) }, ' '))
  redis.call('HSET', session.rc, name, content)
  redis.call('ZADD', session.rz, add(session.base, 'n', 1), name)
  while redis.call('ZCARD', session.rz) > bounds.registers do
    dropRegister(session, redis.call('ZRANGE', session.rz, 0, 0)[1])
  end
  for _, key in ipairs({ session.r, session.rc, session.rz }) do redis.call('PEXPIRE', key, session.keep) end
end
