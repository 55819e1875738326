-- One register; reading it is use, unless it is a peek.
-- KEYS 1 session   ARGV 1 epoch, 2 name, 3 '1' for a peek
-- reply 'register', facts, packed content | 'absent'
-- uses values, session, registers

local session = alive(KEYS[1], ARGV[1])
if not session then return answer('absent') end
openRegisters(session)
local facts, content = call('HGET', session.r, ARGV[2]), call('HGET', session.rc, ARGV[2])
if not facts or not content then return answer('absent') end
if ARGV[3] ~= '1' then redis.call('ZADD', session.rz, add(session.base, 'n', 1), ARGV[2]) end
return answer('register', facts, content)
