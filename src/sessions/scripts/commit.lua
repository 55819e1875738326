-- Publishes what was staged and ends the permits (reading §8.5). What somebody else settled meanwhile is not published twice. A full server does not stop it:
-- the file has landed.
-- KEYS 1 session, then permits of files, in a Cluster none   ARGV 1 epoch, 2 token, 3 intent id, 4 wake channel, 5 bounds, 6 mark of the intent,
--   then pairs of textDigest and packed text
-- reply 'recorded' | 'gone'
-- uses values, session, seen, snapshots, permit, registers, reviews, answers, guard, events, publish

local function leaveAll()
  for i = 2, #KEYS do
    if call('GET', KEYS[i] .. ':m') == ARGV[6] then redis.call('DEL', KEYS[i] .. ':m') end
    leave(KEYS[i], ARGV[2], ARGV[4])
  end
  leave(KEYS[1] .. ':p', ARGV[2], ARGV[4])
end

local session = alive(KEYS[1], ARGV[1])
local intent = session and intentOf(session)
if not intent or intent.id ~= ARGV[3] or intent.token ~= ARGV[2] then
  leaveAll()
  return answer('gone')
end
local texts = {}
for i = 7, #ARGV, 2 do texts[ARGV[i]] = ARGV[i + 1] end
for _, wanted in ipairs(publish(session, cjson.decode(ARGV[5]), intent, ARGV[4])) do
  local packed = texts[wanted[2]]
  if packed then keepText(session, wanted[1], wanted[2], tonumber(wanted[3]), packed, 'display') end
end
closeSnapshots(session)
redis.call('UNLINK', lasting(session, 'in'))
leaveAll()
return answer('recorded')
