-- KEYS 1 session   ARGV 1 epoch, 2 bounds, 3 type, 4 data as JSON
-- reply 'done' | 'gone'
-- uses values, session, events

needsRoom(KEYS[1])
local session = alive(KEYS[1], ARGV[1])
if not session then return answer('gone') end
appendEvent(session, cjson.decode(ARGV[2]), ARGV[3], ARGV[4])
return answer('done')
