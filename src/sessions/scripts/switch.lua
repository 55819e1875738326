-- Moves a session to another workspace: its epoch ends with snapshots, registers, failures and what was staged (contract §4.4).
-- KEYS 1 session   ARGV 1 epoch, 2 workspace, 3 wake channel
-- reply 'open', ms left, clock, fields | 'gone'
-- uses values, session, permit

local session = alive(KEYS[1], ARGV[1])
if not session then return answer('gone') end
unlinkEpoch(session)
redis.call('UNLINK', lasting(session, 'in'))
redis.call('HSET', KEYS[1], 'workspace', ARGV[2], 'epoch', whole(tonumber(session.epoch) + 1))
wakeAll(lasting(session, 'p'), ARGV[3])
return shown(session)
