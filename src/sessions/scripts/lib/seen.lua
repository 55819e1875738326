-- Seen lines as text: '.' nothing, '*' unknown, else sorted ranges as '1-200,250' (contract §4.1).

local function ranges(text)
  local list = {}
  for first, last in string.gmatch(text, '(%d+)%-?(%d*)') do
    first = tonumber(first)
    list[#list + 1] = { first, last == '' and first or tonumber(last) }
  end
  return list
end

local function join(list)
  table.sort(list, function(a, b) return a[1] < b[1] end)
  local joined = {}
  for _, range in ipairs(list) do
    local last = joined[#joined]
    if last and range[1] <= last[2] + 1 then
      if range[2] > last[2] then last[2] = range[2] end
    else
      joined[#joined + 1] = range
    end
  end
  return joined
end

local function printRanges(list)
  if #list == 0 then return '.' end
  local parts = {}
  for i, range in ipairs(list) do
    parts[i] = range[1] == range[2] and whole(range[1]) or whole(range[1]) .. '-' .. whole(range[2])
  end
  return table.concat(parts, ',')
end

-- Unknown absorbs sets. Beyond `max` ranges what was shown last stays, and of the rest what is nearest the start.
local function unite(before, shownNow, max)
  if before == '*' or shownNow == '*' then return '*' end
  if before == shownNow or shownNow == '.' then return before end
  if before == '.' then return shownNow end
  local old, new = ranges(before), ranges(shownNow)
  local all = {}
  for _, range in ipairs(old) do all[#all + 1] = { range[1], range[2] } end
  for _, range in ipairs(new) do all[#all + 1] = { range[1], range[2] } end
  all = join(all)
  if #all <= max then return printRanges(all) end
  local kept = {}
  for i = 1, math.min(#new, max) do kept[i] = new[i] end
  for i = 1, math.min(#old, max - #kept) do kept[#kept + 1] = old[i] end
  return printRanges(join(kept))
end
