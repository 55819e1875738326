-- Makes the lease of a permit start anew. Never creates one.
-- KEYS 1 permit   ARGV 1 token, 2 lease in ms
-- reply 'held' | 'lost'
-- uses values

if call('GET', KEYS[1]) ~= ARGV[1] then return answer('lost') end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return answer('held')
