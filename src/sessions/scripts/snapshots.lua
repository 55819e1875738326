-- Everything that is retained, hottest path first.
-- KEYS 1 session   ARGV 1 epoch
-- reply 'snapshots', {path, history, kept} for each path | 'gone'
-- uses values, session, seen, snapshots

local session = alive(KEYS[1], ARGV[1])
if not session then return answer('gone') end
openSnapshots(session, {})
local ranks, paths = {}, {}
for _, key in ipairs({ session.ld, session.ls }) do
  local found = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  for i = 1, #found, 2 do
    paths[#paths + 1] = found[i]
    ranks[found[i]] = tonumber(found[i + 1])
  end
end
table.sort(paths, function(a, b) return ranks[a] > ranks[b] end)
local reply = answer('snapshots')
for _, path in ipairs(paths) do
  local history = showHistory(session, path)
  if history[1] ~= '' then reply[#reply + 1] = { path, history[1], history[2] } end
end
return reply
