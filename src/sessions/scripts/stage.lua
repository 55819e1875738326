-- Stages an intent and confirms the permit of the session and the claim of its answer, in one step right before the rename (reading §8.3, §8.5).
-- Staging again replaces.
-- KEYS 1 session   ARGV 1 epoch, 2 token, 3 lease in ms, 4 hash of the claim or '', 5 owner of the claim, 6 JSON {texts: [digest], befores: [[index, digest]]},
--   then pairs of field and value of the intent
-- reply 'staged', for each of texts '1' when it is kept, indexes of befores that are not | 'lost' | 'gone'
-- uses values, session, answers

needsRoom(KEYS[1])
local session = alive(KEYS[1], ARGV[1])
if not session then return answer('gone') end
if call('GET', lasting(session, 'p')) ~= ARGV[2] then return answer('lost') end
if ARGV[4] ~= '' then
  openAnswers(session)
  local claim = pendingClaim(session, ARGV[4])
  if answered(session, ARGV[4]) or (claim and claim.owner ~= ARGV[5]) then return answer('lost') end
end
redis.call('PEXPIRE', lasting(session, 'p'), ARGV[3])
local ask = cjson.decode(ARGV[6])
local intent = lasting(session, 'in')
redis.call('UNLINK', intent)
redis.call('HSET', intent, 'f', '1', 'epoch', session.epoch, 'token', ARGV[2])
for i = 7, #ARGV, 2 do redis.call('HSET', intent, ARGV[i], ARGV[i + 1]) end
local kept, missing = {}, {}
for i, digest in ipairs(ask.texts) do kept[i] = redis.call('EXISTS', textKey(session, digest)) end
for _, before in ipairs(ask.befores) do
  local packed = call('GET', textKey(session, before[2]))
  if packed then redis.call('HSET', intent, 'b:' .. before[1], packed) else missing[#missing + 1] = before[1] end
end
redis.call('PEXPIRE', intent, session.keep)
return answer('staged', table.concat(kept), missing)
