-- Counts a failure of a prompt on a path; each code with grace has one that is free (contract §9.3).
-- KEYS 1 session   ARGV 1 epoch, 2 field of prompt and path, 3 code, 4 '1' when the code has grace, 5 bounds
-- reply 'grace' | 'counted', failures so far | 'gone'
-- uses values, session, guard

needsRoom(KEYS[1])
local session = alive(KEYS[1], ARGV[1])
if not session then return answer('gone') end
openGuard(session)
local counted, codes = string.match(call('HGET', session.g, ARGV[2]) or '', '^1 (%d+) (%S*)$')
counted, codes = tonumber(counted or '0'), codes or ''
local free = ARGV[4] == '1' and not string.find(',' .. codes .. ',', ',' .. ARGV[3] .. ',', 1, true)
if free then codes = codes == '' and ARGV[3] or codes .. ',' .. ARGV[3] else counted = counted + 1 end
redis.call('HSET', session.g, ARGV[2], '1 ' .. whole(counted) .. ' ' .. codes)
redis.call('ZADD', session.gz, add(session.base, 'n', 1), ARGV[2])
while redis.call('ZCARD', session.gz) > cjson.decode(ARGV[5]).guard do
  forgive(session, redis.call('ZRANGE', session.gz, 0, 0)[1])
end
redis.call('PEXPIRE', session.g, session.keep)
redis.call('PEXPIRE', session.gz, session.keep)
if free then return answer('grace') end
return answer('counted', whole(counted))
