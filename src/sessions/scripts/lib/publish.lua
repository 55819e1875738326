-- What commit and settle publish of a staged intent, in the order of the store contract.
--
-- in   f '1', id, token, epoch, head (JSON for whoever settles), plan (JSON: what to publish), and what is too large for JSON: e evidence,
--      b:index bytes to restore, r:index contents of registers, a body of the answer, v:index data of events

local function intentOf(session)
  local fields = call('HGETALL', lasting(session, 'in'))
  if #fields == 0 then return nil end
  local intent = {}
  for i = 1, #fields, 2 do intent[fields[i]] = fields[i + 1] end
  local ok, plan = pcall(cjson.decode, intent.plan or '')
  if intent.f ~= '1' or not ok or type(plan) ~= 'table' or not intent.id then
    note(lasting(session, 'in'), 'is no intent of format 1')
    redis.call('UNLINK', lasting(session, 'in'))
    return nil
  end
  intent.plan = plan
  return intent
end

-- Gives the recordings whose text is wanted: {path, digest, bytes}.
local function publish(session, bounds, intent, wakeChannel)
  local plan = intent.plan
  openSnapshots(session, bounds)
  for _, path in ipairs(plan.forget) do forget(session, path) end
  for _, m in ipairs(plan.moves) do move(session, m[1], m[2]) end
  local wanted = {}
  for _, r in ipairs(plan.recordings) do
    local version = {
      tag = r[2], versionDigest = r[3], textDigest = r[4], bytes = r[5], lines = r[6], seen = r[7],
    }
    local _, wants = record(session, r[1], version, 'display')
    if wants then wanted[#wanted + 1] = { r[1], r[4], r[5] } end
  end
  sweepTexts(session)
  closeSnapshots(session)

  openRegisters(session)
  for i, r in ipairs(plan.registers) do putRegister(session, bounds, r[1], r[2], r[3], intent['r:' .. i]) end

  openReviews(session)
  if intent.e then
    local befores = {}
    for i = 0, plan.entries - 1 do befores[i] = intent['b:' .. i] end
    addReview(session, bounds, plan.review, plan.entries, intent.e, befores)
  end
  if plan.rolledBack then markRolledBack(session, plan.rolledBack) end

  if plan.answer then
    openAnswers(session)
    putAnswer(session, bounds, plan.answer[1], plan.answer[2], plan.answer[3], intent.a or '', wakeChannel)
  end
  if plan.clearGuard then
    openGuard(session)
    forgive(session, plan.clearGuard)
  end
  for i, event in ipairs(plan.events) do appendEvent(session, bounds, event, intent['v:' .. i]) end
  return wanted
end
