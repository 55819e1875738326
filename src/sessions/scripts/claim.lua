-- Claims an idempotency key, or tells what became of it (reading §8.8).
-- KEYS 1 session   ARGV 1 epoch or '', 2 tenant or '', 3 hash of the key, 4 digest of the request, 5 owner, 6 lease in ms, 7 '1' when it waits
-- reply 'mine' | 'answered', status, body | 'reused' | 'busy' | 'gone'
-- uses values, session, answers

needsRoom(KEYS[1])
local session = alive(KEYS[1], ARGV[1])
if not session then return answer('gone') end
if ARGV[2] ~= '' and redis.call('HGET', KEYS[1], 'tenant') ~= ARGV[2] then return answer('gone') end
openAnswers(session)
local known = answered(session, ARGV[3])
if known then
  if known.digest ~= ARGV[4] then return answer('reused') end
  return answer('answered', known.status, known.body)
end
local claim = pendingClaim(session, ARGV[3])
if not claim then
  redis.call('SET', pendingKey(session, ARGV[3]), table.concat({ '1', ARGV[4], ARGV[5], '0' }, ' '), 'PX', ARGV[6])
  return answer('mine')
end
if claim.digest ~= ARGV[4] then return answer('reused') end
if ARGV[7] == '1' and not claim.waited then
  redis.call('SET', pendingKey(session, ARGV[3]), table.concat({ '1', claim.digest, claim.owner, '1' }, ' '), 'KEEPTTL')
end
return answer('busy')
