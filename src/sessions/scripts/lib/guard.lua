-- Failures of prompts on paths: g field → '1 counted codes' with the codes that had their grace, gz fields by recency (contract §9.3).

local function openGuard(session)
  session.g, session.gz = own(session, 'g'), own(session, 'gz')
  if call('HLEN', session.g) ~= call('ZCARD', session.gz) then
    note(session.g, 'does not fit its recency and starts anew')
    redis.call('UNLINK', session.g, session.gz)
  end
end

local function forgive(session, field)
  redis.call('HDEL', session.g, field)
  redis.call('ZREM', session.gz, field)
end
