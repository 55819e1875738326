-- Reviews: v ids by sequence, vm id → '1 sequence entries evidenceBytes beforeBytes rolledBack dropped', ve id → packed evidence,
-- vb id:index → packed bytes to restore (contract §13.1).

local function openReviews(session)
  session.v, session.vm, session.ve, session.vb =
    lasting(session, 'v'), lasting(session, 'vm'), lasting(session, 've'), lasting(session, 'vb')
  local count = call('ZCARD', session.v)
  if call('HLEN', session.vm) ~= count or call('HLEN', session.ve) ~= count then
    note(session.v, 'does not fit its reviews and starts anew')
    redis.call('UNLINK', session.v, session.vm, session.ve, session.vb)
  end
end

local function reviewFacts(session, id)
  local value = call('HGET', session.vm, id)
  if not value then return nil end
  local sequence, entries, evidence, befores, rolledBack, dropped =
    string.match(value, '^1 (%d+) (%d+) (%d+) (%d+) ([01]) ([01])$')
  if not sequence then
    note(session.vm, 'holds a review that is not of format 1')
    return nil
  end
  return {
    sequence = sequence, entries = tonumber(entries), evidence = tonumber(evidence), befores = tonumber(befores),
    rolledBack = rolledBack, dropped = dropped,
  }
end

local function putFacts(session, id, f)
  redis.call('HSET', session.vm, id, table.concat(
    { '1', f.sequence, f.entries, whole(f.evidence), whole(f.befores), f.rolledBack, f.dropped }, ' '))
end

local function dropBefores(session, id, facts)
  for i = 0, facts.entries - 1 do call('HDEL', session.vb, id .. ':' .. i) end
end

local function removeReview(session, id)
  local facts = reviewFacts(session, id)
  if facts then dropBefores(session, id, facts) end
  redis.call('HDEL', session.vm, id)
  redis.call('HDEL', session.ve, id)
  redis.call('ZREM', session.v, id)
end

-- From now on it cannot be rolled back. One that was rolled back needs nothing and stays as it is.
local function giveUpBefores(session, id, facts)
  if facts.rolledBack == '1' or facts.dropped == '1' then return end
  dropBefores(session, id, facts)
  facts.befores = 0
  facts.dropped = '1'
  putFacts(session, id, facts)
end

-- The oldest reviews go; those behind the newest `reviews` cannot be rolled back; then bytes to restore go, those of one that is too large by itself first.
local function shrinkReviews(session, bounds)
  local ids = redis.call('ZRANGE', session.v, 0, -1)
  local facts, evidence, befores = {}, 0, 0
  for i, id in ipairs(ids) do
    facts[i] = reviewFacts(session, id) or { entries = 0, evidence = 0, befores = 0, rolledBack = '0', dropped = '1', sequence = '0' }
    if facts[i].befores > bounds.reviewBytes or #ids - i + 1 > bounds.reviews then giveUpBefores(session, id, facts[i]) end
    evidence = evidence + facts[i].evidence
    befores = befores + facts[i].befores
  end
  local first = 1
  while first < #ids and (#ids - first + 1 > bounds.reviewEvidence or evidence > bounds.reviewEvidenceBytes) do
    evidence = evidence - facts[first].evidence
    befores = befores - facts[first].befores
    removeReview(session, ids[first])
    first = first + 1
  end
  for i = first, #ids do
    if befores <= bounds.reviewBytes then break end
    if facts[i].befores > 0 then
      befores = befores - facts[i].befores
      giveUpBefores(session, ids[i], facts[i])
    end
  end
end

local function addReview(session, bounds, id, entries, evidence, befores)
  local sequence = add(session.base, 'vn', 1)
  local bytes = 0
  for index, packed in pairs(befores) do
    call('HSET', session.vb, id .. ':' .. index, packed)
    bytes = bytes + #packed
  end
  redis.call('ZADD', session.v, sequence, id)
  redis.call('HSET', session.ve, id, evidence)
  putFacts(session, id, {
    sequence = whole(sequence), entries = entries, evidence = #evidence, befores = bytes, rolledBack = '0', dropped = '0',
  })
  shrinkReviews(session, bounds)
  for _, key in ipairs({ session.v, session.vm, session.ve, session.vb }) do redis.call('PEXPIRE', key, session.keep) end
end

local function markRolledBack(session, id)
  local facts = reviewFacts(session, id)
  if not facts then return end
  dropBefores(session, id, facts)
  facts.befores = 0
  facts.rolledBack = '1'
  putFacts(session, id, facts)
end

-- '1' when it cannot be rolled back any more.
local function beforesLost(session, id, facts)
  if facts.dropped == '1' then return '1' end
  if facts.befores > 0 then
    for i = 0, facts.entries - 1 do
      if call('HEXISTS', session.vb, id .. ':' .. i) == 1 then return '0' end
    end
    return '1'
  end
  return '0'
end
