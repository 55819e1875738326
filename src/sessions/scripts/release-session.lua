-- Ends the permit of a session or the wait for it, and discards what this owner staged.
-- KEYS 1 session   ARGV 1 token, 2 wake channel
-- reply 'done'
-- uses values, permit

local intent = KEYS[1] .. ':in'
if call('HGET', intent, 'token') == ARGV[1] then redis.call('UNLINK', intent) end
leave(KEYS[1] .. ':p', ARGV[1], ARGV[2])
return answer('done')
