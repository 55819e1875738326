-- Opens a session; a slide makes its TTL start anew. The keys below it live longer than it and are refreshed at most twice in a TTL.
-- KEYS 1 session   ARGV 1 '1' to slide, 2 tenant that it must belong to or ''
-- reply 'open', ms left, clock, fields, '1' when the keys were refreshed | 'gone'
-- uses values, session

local session = alive(KEYS[1], '')
if not session then return answer('gone') end
if ARGV[2] ~= '' and redis.call('HGET', KEYS[1], 'tenant') ~= ARGV[2] then return answer('gone') end
local refreshed = '0'
if ARGV[1] == '1' then
  redis.call('PEXPIRE', KEYS[1], session.ttl)
  if redis.call('EXISTS', KEYS[1] .. ':fr') == 0 then
    redis.call('SET', KEYS[1] .. ':fr', '1', 'PX', math.max(1, math.floor(session.ttl / 2)))
    refresh(session)
    refreshed = '1'
  end
end
local reply = shown(session)
reply[#reply + 1] = refreshed
return reply
