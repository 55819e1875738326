-- Records displayed or found versions in order; promotes those whose text is known (contract §4.2). Texts follow with put-texts where they are wanted.
-- KEYS 1 session   ARGV 1 epoch, 2 'display' or 'search', 3 bounds, then for each: path, tag, versionDigest, textDigest, bytes, lines, seen
-- reply 'answers', for each 'recorded' | 'wants' | 'noRoom' | or 'gone'
-- uses values, session, seen, snapshots

needsRoom(KEYS[1])
local session = alive(KEYS[1], ARGV[1])
if not session then return answer('gone') end
openSnapshots(session, cjson.decode(ARGV[3]))
local reply = answer('answers')
for i = 4, #ARGV, 7 do
  local version = {
    tag = ARGV[i + 1], versionDigest = ARGV[i + 2], textDigest = ARGV[i + 3],
    bytes = ARGV[i + 4], lines = ARGV[i + 5], seen = ARGV[i + 6],
  }
  local status, wants = record(session, ARGV[i], version, ARGV[2])
  reply[#reply + 1] = wants and 'wants' or status
end
sweepTexts(session)
closeSnapshots(session)
return reply
