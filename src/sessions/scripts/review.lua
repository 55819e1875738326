-- One review with the bytes that its rollback needs.
-- KEYS 1 session   ARGV 1 epoch, 2 review id
-- reply 'review', rolledBack, lost, evidence, index and packed bytes of each before in turn | 'absent'
-- uses values, session, reviews

local session = alive(KEYS[1], ARGV[1])
if not session then return answer('absent') end
openReviews(session)
local facts = reviewFacts(session, ARGV[2])
if not facts then return answer('absent') end
local reply = answer('review', facts.rolledBack, beforesLost(session, ARGV[2], facts), redis.call('HGET', session.ve, ARGV[2]))
for i = 0, facts.entries - 1 do
  local packed = call('HGET', session.vb, ARGV[2] .. ':' .. i)
  if packed then
    reply[#reply + 1] = tostring(i)
    reply[#reply + 1] = packed
  end
end
return reply
