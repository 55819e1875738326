-- Creates a session (reading §8.1).
-- KEYS 1 session   ARGV 1 TTL in ms, then pairs of field and value
-- reply 'open', ms left, clock, fields | 'taken'
-- uses values, session

needsRoom(KEYS[1])
if redis.call('EXISTS', KEYS[1]) == 1 then return answer('taken') end
local at = whole(now())
redis.call('HSET', KEYS[1], 'f', '1', 'epoch', '1', 'ttl', ARGV[1], 'createdAt', at)
for i = 2, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('SET', KEYS[1] .. ':fr', '1', 'PX', math.max(1, math.floor(ARGV[1] / 2)))
return shown({ base = KEYS[1] })
