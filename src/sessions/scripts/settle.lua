-- Publishes or discards an intent that its owner never committed (reading §8.5). The second one who tries finds it absent.
-- KEYS 1 session   ARGV 1 epoch, 2 intent id, 3 '1' when it landed, 4 wake channel, 5 bounds
-- reply 'settled', {path, textDigest, bytes} of each text that is wanted | 'absent'
-- uses values, session, seen, snapshots, registers, reviews, answers, guard, events, publish

local session = alive(KEYS[1], ARGV[1])
local intent = session and intentOf(session)
if not intent or intent.id ~= ARGV[2] or intent.epoch ~= ARGV[1] then return answer('absent') end
local wanted = {}
if ARGV[3] == '1' then wanted = publish(session, cjson.decode(ARGV[5]), intent, ARGV[4]) end
redis.call('UNLINK', lasting(session, 'in'))
return answer('settled', wanted)
