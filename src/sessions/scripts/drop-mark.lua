-- Takes a mark away whose intent is settled.
-- KEYS 1 permit   ARGV 1 mark
-- reply 'done'
-- uses values

if call('GET', KEYS[1] .. ':m') == ARGV[1] then redis.call('DEL', KEYS[1] .. ':m') end
return answer('done')
