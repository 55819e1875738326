-- Events behind an id. The last events of a session that was dropped are still there for a moment.
-- KEYS 1 session   ARGV 1 last id, 2 how many
-- reply 'live' | 'gone', id of the last event in the reply (of values that are not ours too), events
-- uses values, session, events

local session = alive(KEYS[1], '')
local list, counters = KEYS[1] .. ':e', KEYS[1] .. ':em'
local last = tonumber(call('HGET', counters, 'n') or '0') or 0
local after = tonumber(ARGV[1])
if after > last then after = 0 end
local first = last - call('LLEN', list) + 1
local from = math.max(0, after - first + 1)
local found = redis.call('LRANGE', list, from, from + ARGV[2] - 1)
return answer(session and 'live' or 'gone', #found == 0 and whole(after) or whole(first + from + #found - 1), found)
