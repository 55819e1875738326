-- Drops a session with everything it holds; its last events stay for those who listen. Wakes who waits for it.
-- KEYS 1 session   ARGV 1 wake channel, 2 ms that the events stay
-- reply 'dropped', tenant | 'gone'
-- uses values, session, permit

local session = alive(KEYS[1], '')
local tenant = call('HGET', KEYS[1], 'tenant')
redis.call('DEL', KEYS[1])
if not session then return answer('gone') end
unlinkEpoch(session)
for _, name in ipairs(lastingKeys) do
  if name == 'e' or name == 'em' then redis.call('PEXPIRE', lasting(session, name), ARGV[2])
  else redis.call('UNLINK', lasting(session, name)) end
end
redis.call('UNLINK', lasting(session, 'fr'))
redis.call('PUBLISH', lasting(session, 'live'), 'end')
wakeAll(lasting(session, 'p'), ARGV[1])
return answer('dropped', tenant or '')
