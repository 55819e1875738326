-- Gives a claim back and wakes who waits for it.
-- KEYS 1 session   ARGV 1 epoch, 2 hash of the key, 3 owner, 4 wake channel
-- reply 'done'
-- uses values, session, answers

local session = alive(KEYS[1], ARGV[1])
local claim = session and pendingClaim(session, ARGV[2])
if claim and claim.owner == ARGV[3] then endClaim(session, ARGV[2], ARGV[4]) end
return answer('done')
