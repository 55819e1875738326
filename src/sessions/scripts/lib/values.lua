-- Commands that never fail on a value that is not ours, and notes about such values for the log of the service.

local notes = {}

local function note(key, what)
  notes[#notes + 1] = key .. ' ' .. what
end

-- As redis.call, but a key of another type is deleted first: it counts as absent.
local function call(command, key, ...)
  local reply = redis.pcall(command, key, ...)
  if type(reply) == 'table' and reply.err then
    if string.find(reply.err, 'WRONGTYPE', 1, true) then
      note(key, 'is of another type')
      redis.call('DEL', key)
    end
    return redis.call(command, key, ...)
  end
  return reply
end

-- Adds to a counter in a hash and gives the sum; a counter that is no number starts at 0.
local function add(key, field, amount)
  local value = call('HGET', key, field)
  if value and not string.match(value, '^%-?%d+$') then
    note(key, 'has a counter that is no number')
    redis.call('HDEL', key, field)
  end
  return redis.call('HINCRBY', key, field, amount)
end

-- For scripts that store something: a full server refuses them as a whole. Without this it would refuse only those whose first write is the one that grows.
-- Writes nothing.
local function needsRoom(key)
  redis.call('SETRANGE', key .. ':none', 0, '')
end

-- Milliseconds of the server's clock.
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function whole(number)
  return string.format('%.0f', number)
end

-- Every reply begins with the notes.
local function answer(...)
  return { notes, ... }
end
