-- Publishes what was staged and ends the permit of the session (reading §8.5). What somebody else settled meanwhile is not published twice.
-- KEYS 1 session   ARGV 1 epoch, 2 token, 3 intent id, 4 wake channel, 5 bounds, then pairs of textDigest and packed text
-- reply 'recorded' | 'gone'
-- uses values, session, seen, snapshots, permit, registers, reviews, answers, guard, events, publish

local session = alive(KEYS[1], ARGV[1])
local intent = session and intentOf(session)
if not intent or intent.id ~= ARGV[3] or intent.token ~= ARGV[2] then
  leave(KEYS[1] .. ':p', ARGV[2], ARGV[4])
  return answer('gone')
end
local texts = {}
for i = 6, #ARGV, 2 do texts[ARGV[i]] = ARGV[i + 1] end
for _, wanted in ipairs(publish(session, cjson.decode(ARGV[5]), intent, ARGV[4])) do
  local packed = texts[wanted[2]]
  if packed then keepText(session, wanted[1], wanted[2], tonumber(wanted[3]), packed, 'display') end
end
closeSnapshots(session)
redis.call('UNLINK', lasting(session, 'in'))
leave(lasting(session, 'p'), ARGV[2], ARGV[4])
return answer('recorded')
