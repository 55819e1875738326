-- Stores the answer of a claimed key; the claim of another owner is left alone. An answer that was published meanwhile, by whoever settled a leftover, stands.
-- KEYS 1 session   ARGV 1 epoch, 2 hash of the key, 3 digest of the request, 4 owner, 5 status, 6 body, 7 wake channel, 8 bounds
-- reply 'done' | 'answered', status, body
-- uses values, session, answers

needsRoom(KEYS[1])
local session = alive(KEYS[1], ARGV[1])
local claim = session and pendingClaim(session, ARGV[2])
if session and (not claim or claim.owner == ARGV[4]) then
  openAnswers(session)
  local known = answered(session, ARGV[2])
  if known and known.digest == ARGV[3] then
    endClaim(session, ARGV[2], ARGV[7])
    return answer('answered', known.status, known.body)
  end
  putAnswer(session, cjson.decode(ARGV[8]), ARGV[2], ARGV[3], ARGV[5], ARGV[6], ARGV[7])
end
return answer('done')
