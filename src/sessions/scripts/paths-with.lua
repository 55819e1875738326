-- Paths of a basename that retain a version with a tag (contract §9.2). Derived from the histories themselves, so that what a server evicts cannot hide
-- one of two candidates.
-- KEYS 1 session   ARGV 1 epoch, 2 basename, 3 tag
-- reply 'paths', paths | 'gone'
-- uses values, session, seen, snapshots

local session = alive(KEYS[1], ARGV[1])
if not session then return answer('gone') end
openSnapshots(session, {})
local ending = '/' .. ARGV[2]
local found = {}
for _, path in ipairs(redis.call('HKEYS', session.h)) do
  if path == ARGV[2] or string.sub(path, -#ending) == ending then
    for _, version in ipairs(versionsOf(session, path) or {}) do
      if version.tag == ARGV[3] then
        found[#found + 1] = path
        break
      end
    end
  end
end
return answer('paths', found)
