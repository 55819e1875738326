-- KEYS 1 session   ARGV 1 epoch
-- reply 'usage', paths, versions, retained bytes, registers | 'gone'
-- uses values, session, seen, snapshots, registers

local session = alive(KEYS[1], ARGV[1])
if not session then return answer('gone') end
openSnapshots(session, {})
openRegisters(session)
local versions = 0
for _, path in ipairs(redis.call('HKEYS', session.h)) do versions = versions + #(versionsOf(session, path) or {}) end
return answer('usage', redis.call('HLEN', session.h), versions, whole(total(session)), redis.call('HLEN', session.r))
