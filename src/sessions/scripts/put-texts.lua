-- Keeps texts of versions that were recorded before, within the bounds on bytes (contract §4.4). A text that no version refers to any more is left out.
-- KEYS 1 session   ARGV 1 epoch, 2 'display' or 'search', 3 bounds, then for each: path, textDigest, bytes, packed text
-- reply 'done' | 'gone'
-- uses values, session, seen, snapshots

needsRoom(KEYS[1])
local session = alive(KEYS[1], ARGV[1])
if not session then return answer('gone') end
openSnapshots(session, cjson.decode(ARGV[3]))
for i = 4, #ARGV, 4 do keepText(session, ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 3], ARGV[2]) end
sweepTexts(session)
closeSnapshots(session)
return answer('done')
