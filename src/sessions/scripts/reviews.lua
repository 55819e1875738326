-- A page of reviews, newest first.
-- KEYS 1 session   ARGV 1 epoch, 2 sequence below which it starts or '+inf', 3 how many
-- reply 'reviews', '1' when there are more, {sequence, rolledBack, lost, evidence} of each
-- uses values, session, reviews

local session = alive(KEYS[1], ARGV[1])
if not session then return answer('reviews', '0') end
openReviews(session)
local limit = tonumber(ARGV[3])
local ids = redis.call('ZREVRANGEBYSCORE', session.v, ARGV[2] == '+inf' and '+inf' or '(' .. ARGV[2], '-inf', 'LIMIT', 0, limit + 1)
local reply = answer('reviews', #ids > limit and '1' or '0')
for i = 1, math.min(#ids, limit) do
  local facts = reviewFacts(session, ids[i])
  if facts then
    reply[#reply + 1] = { facts.sequence, facts.rolledBack, beforesLost(session, ids[i], facts), redis.call('HGET', session.ve, ids[i]) }
  end
end
return reply
