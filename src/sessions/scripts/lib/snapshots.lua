-- Histories, recency and texts of an epoch within their bounds (contract §4.4, reading §2).
--
-- h    path → '1', a line per version, newest first: tag versionDigest textDigest bytes lines recordedAt seen, and '.' at the end
-- ld   paths that were displayed, by recency; ls: paths that only searches recorded
-- t    'r:' digest → versions that refer to the text, 'b:' digest → its plain bytes while it is kept, '=' → their sum
-- t:…  the packed text itself
--
-- A server that evicts may take any of these keys: when the first three do not fit each other all of them start anew.

local versionPattern = '^(%x%x%x%x) (%x+) (%x+) (%d+) (%d+) (%d+) (%S+)$'

local function parseHistory(value)
  local versions = {}
  for line in string.gmatch(string.match(value, '^1\n(.*)\n%.$') or '', '[^\n]+') do
    local tag, versionDigest, textDigest, bytes, lines, at, seen = string.match(line, versionPattern)
    if not tag then return nil end
    versions[#versions + 1] = {
      tag = tag, versionDigest = versionDigest, textDigest = textDigest,
      bytes = bytes, lines = lines, at = at, seen = seen,
    }
  end
  if #versions == 0 then return nil end
  return versions
end

local function printHistory(versions)
  local lines = { '1' }
  for i, v in ipairs(versions) do
    lines[i + 1] = table.concat({ v.tag, v.versionDigest, v.textDigest, v.bytes, v.lines, v.at, v.seen }, ' ')
  end
  lines[#lines + 1] = '.'
  return table.concat(lines, '\n')
end

local function openSnapshots(session, bounds)
  session.h, session.ld, session.ls, session.t = own(session, 'h'), own(session, 'ld'), own(session, 'ls'), own(session, 't')
  session.bounds = bounds
  session.dead = {}
  session.at = whole(now())
  if call('HLEN', session.h) ~= call('ZCARD', session.ld) + call('ZCARD', session.ls) then
    note(session.h, 'does not fit its recency and starts anew')
    for _, digest in ipairs(textDigests(session)) do redis.call('UNLINK', textKey(session, digest)) end
    redis.call('UNLINK', session.h, session.ld, session.ls, session.t)
  end
end

local function closeSnapshots(session)
  for _, key in ipairs({ session.h, session.ld, session.ls, session.t }) do redis.call('PEXPIRE', key, session.keep) end
end

local function dropText(session, digest)
  local bytes = call('HGET', session.t, 'b:' .. digest)
  if bytes then
    redis.call('HDEL', session.t, 'b:' .. digest)
    add(session.t, '=', 0 - (tonumber(bytes) or 0))
  end
  redis.call('UNLINK', textKey(session, digest))
end

local function refer(session, digest)
  add(session.t, 'r:' .. digest, 1)
  session.dead[digest] = nil
end

-- A text without versions is dropped by the next sweep, unless something refers to it before.
local function unrefer(session, digest)
  if add(session.t, 'r:' .. digest, -1) <= 0 then
    redis.call('HDEL', session.t, 'r:' .. digest)
    session.dead[digest] = true
  end
end

local function sweepTexts(session)
  for digest in pairs(session.dead) do dropText(session, digest) end
  session.dead = {}
end

-- The versions of a path, or nil. A value that is not ours goes, and its path with it.
local function versionsOf(session, path)
  local value = call('HGET', session.h, path)
  if not value then return nil end
  local versions = parseHistory(value)
  if versions then return versions end
  note(session.h, 'holds a history that is not of format 1')
  redis.call('HDEL', session.h, path)
  redis.call('ZREM', session.ld, path)
  redis.call('ZREM', session.ls, path)
  return nil
end

local function forget(session, path)
  local versions = versionsOf(session, path)
  redis.call('HDEL', session.h, path)
  redis.call('ZREM', session.ld, path)
  redis.call('ZREM', session.ls, path)
  for _, version in ipairs(versions or {}) do unrefer(session, version.textDigest) end
end

local function nextRank(session)
  return add(session.base, 'n', 1)
end

local function move(session, from, to)
  if from == to then return end
  forget(session, to)
  local versions = versionsOf(session, from)
  if not versions then return end
  local recency = redis.call('ZSCORE', session.ld, from) and session.ld or session.ls
  redis.call('HDEL', session.h, from)
  redis.call('ZREM', recency, from)
  redis.call('HSET', session.h, to, printHistory(versions))
  redis.call('ZADD', recency, nextRank(session), to)
end

-- The path to evict: the coldest that only searches recorded, else for a display the coldest of all.
local function coldest(session, by, except)
  for _, key in ipairs(by == 'display' and { session.ls, session.ld } or { session.ls }) do
    for _, path in ipairs(redis.call('ZRANGE', key, 0, 1)) do
      if path ~= except then return path end
    end
  end
  return nil
end

local function total(session)
  return tonumber(call('HGET', session.t, '=') or '0') or 0
end

-- Records a version (contract §4.2): 'noRoom', or 'recorded' and whether its text is wanted.
local function record(session, path, version, by)
  local bounds = session.bounds
  local versions = versionsOf(session, path)
  if not versions then
    versions = {}
    if redis.call('HLEN', session.h) >= bounds.paths then
      local victim = coldest(session, by)
      if not victim then return 'noRoom', false end
      forget(session, victim)
    end
  end
  local displayed = by == 'display' or redis.call('ZSCORE', session.ld, path)
  redis.call('ZADD', displayed and session.ld or session.ls, nextRank(session), path)
  if displayed then redis.call('ZREM', session.ls, path) end

  local known
  for i, old in ipairs(versions) do
    if old.textDigest == version.textDigest and old.tag == version.tag then
      known = table.remove(versions, i)
      break
    end
  end
  if known then
    known.seen = unite(known.seen, version.seen, bounds.ranges)
  else
    known = version
    refer(session, version.textDigest)
  end
  known.at = session.at
  table.insert(versions, 1, known)
  while #versions > bounds.versions do unrefer(session, table.remove(versions).textDigest) end
  redis.call('HSET', session.h, path, printHistory(versions))

  local bytes = tonumber(version.bytes)
  if redis.call('EXISTS', textKey(session, version.textDigest)) == 1 then return 'recorded', false end
  if bytes > bounds.file then return 'recorded', false end
  return 'recorded', by == 'display' or total(session) + bytes <= bounds.session
end

-- Keeps a text that a version of `path` refers to, making room for it: whole paths go first, then older texts of the path itself. A search evicts nothing.
local function keepText(session, path, digest, bytes, packed, by)
  local key = textKey(session, digest)
  if redis.call('EXISTS', key) == 1 or not call('HGET', session.t, 'r:' .. digest) then return end
  local bound = session.bounds.session
  -- The server evicted it behind our back.
  dropText(session, digest)
  while by == 'display' and total(session) + bytes > bound do
    local victim = coldest(session, by, path)
    if not victim then break end
    forget(session, victim)
    sweepTexts(session)
  end
  local versions = versionsOf(session, path) or {}
  for i = #versions, 2, -1 do
    if by ~= 'display' or total(session) + bytes <= bound then break end
    dropText(session, versions[i].textDigest)
  end
  if total(session) + bytes > bound then return end
  redis.call('SET', key, packed, 'PX', session.keep)
  redis.call('HSET', session.t, 'b:' .. digest, bytes)
  add(session.t, '=', bytes)
end

-- The history of a path as it is kept, and for each version whether its text is.
local function showHistory(session, path)
  local versions = versionsOf(session, path)
  if not versions then return { '', '' } end
  local kept = {}
  for i, version in ipairs(versions) do kept[i] = redis.call('EXISTS', textKey(session, version.textDigest)) end
  return { printHistory(versions), table.concat(kept) }
end
