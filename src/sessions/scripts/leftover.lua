-- The intent that a mark on a file names, when it is still there.
-- KEYS 1 session   ARGV 1 epoch, 2 intent id
-- reply 'found', head, body of its answer | 'absent'
-- uses values, session

local session = alive(KEYS[1], ARGV[1])
if not session then return answer('absent') end
local fields = call('HMGET', lasting(session, 'in'), 'f', 'epoch', 'id', 'head', 'a')
if fields[1] ~= '1' or fields[2] ~= session.epoch or fields[3] ~= ARGV[2] or not fields[4] then return answer('absent') end
return answer('found', fields[4], fields[5] or '')
