-- Confirms the permit of a file right before the rename and marks whose intent is staged on it.
-- KEYS 1 permit   ARGV 1 token, 2 lease in ms, 3 mark, 4 ms that the mark lives
-- reply 'held' | 'lost'
-- uses values

needsRoom(KEYS[1])
if call('GET', KEYS[1]) ~= ARGV[1] then return answer('lost') end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('SET', KEYS[1] .. ':m', ARGV[3], 'PX', ARGV[4])
return answer('held')
