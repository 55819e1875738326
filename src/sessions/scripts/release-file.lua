-- Ends the permit of a file or the wait for it, and takes the given mark away.
-- KEYS 1 permit   ARGV 1 token, 2 wake channel, 3 mark or ''
-- reply 'done'
-- uses values, permit

if ARGV[3] ~= '' and call('GET', KEYS[1] .. ':m') == ARGV[3] then redis.call('DEL', KEYS[1] .. ':m') end
leave(KEYS[1], ARGV[1], ARGV[2])
return answer('done')
