-- KEYS 1 session   ARGV 1 epoch
-- reply 'registers', name and facts of each in turn
-- uses values, session, registers

local session = alive(KEYS[1], ARGV[1])
if not session then return answer('registers', {}) end
openRegisters(session)
return answer('registers', redis.call('HGETALL', session.r))
