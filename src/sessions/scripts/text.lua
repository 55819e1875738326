-- KEYS 1 session   ARGV 1 epoch, 2 textDigest
-- reply 'text', packed text | 'absent'
-- uses values, session

local session = alive(KEYS[1], ARGV[1])
local packed = session and call('GET', textKey(session, ARGV[2]))
if not packed then return answer('absent') end
return answer('text', packed)
