-- Takes the permit of a session, or a place in its queue, and reads what the call needs under it (reading §8.3). An intent that lies there belongs to
-- nobody any more: whoever staged it has lost the permit.
-- KEYS 1 session   ARGV 1 epoch, 2 token, 3 lease in ms, 4 ticket in ms, 5 '1' when it may wait, then paths
-- reply 'held', {id} of a leftover intent or {}, {history, kept} for each path | 'busy' | 'gone'
-- uses values, session, seen, snapshots, permit

needsRoom(KEYS[1])
local session = alive(KEYS[1], ARGV[1])
if not session then return answer('gone') end
if not acquire(lasting(session, 'p'), ARGV[2], ARGV[3], ARGV[4], ARGV[5] == '1') then return answer('busy') end
local leftover = call('HMGET', lasting(session, 'in'), 'f', 'epoch', 'id')
if leftover[1] ~= '1' or leftover[2] ~= session.epoch or not leftover[3] then
  if redis.call('UNLINK', lasting(session, 'in')) == 1 then note(lasting(session, 'in'), 'is no intent of this epoch') end
  leftover = {}
else
  leftover = { leftover[3] }
end
openSnapshots(session, {})
local reply = answer('held', leftover)
for i = 6, #ARGV do reply[#reply + 1] = showHistory(session, ARGV[i]) end
return reply
