-- One register; reading it is use.
-- KEYS 1 session   ARGV 1 epoch, 2 name
-- reply 'register', facts, packed content | 'absent'
-- uses values, session, registers

local session = alive(KEYS[1], ARGV[1])
if not session then return answer('absent') end
openRegisters(session)
local facts, content = call('HGET', session.r, ARGV[2]), call('HGET', session.rc, ARGV[2])
if not facts or not content then return answer('absent') end
redis.call('ZADD', session.rz, add(session.base, 'n', 1), ARGV[2])
return answer('register', facts, content)
