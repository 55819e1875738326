-- KEYS 1 session   ARGV 1 hash of the key, 2 owner, 3 lease in ms
-- reply 'held' | 'lost'
-- uses values, session, answers

local session = alive(KEYS[1], '')
local claim = session and pendingClaim(session, ARGV[1])
if not claim or claim.owner ~= ARGV[2] then return answer('lost') end
redis.call('PEXPIRE', pendingKey(session, ARGV[1]), ARGV[3])
return answer('held')
