-- Versions of paths, newest first. Refreshes no recency.
-- KEYS 1 session   ARGV 1 epoch, then paths
-- reply 'histories', {history, kept} for each path | 'gone'
-- uses values, session, seen, snapshots

local session = alive(KEYS[1], ARGV[1])
if not session then return answer('gone') end
openSnapshots(session, {})
local reply = answer('histories')
for i = 2, #ARGV do reply[#reply + 1] = showHistory(session, ARGV[i]) end
return reply
