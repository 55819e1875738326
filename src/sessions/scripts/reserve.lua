-- Takes a place among the open sessions of a tenant (reading §8.2). Sessions that ended unseen are found by whoever is told 'full'.
-- KEYS 1 sessions of the tenant   ARGV 1 session id, 2 how many may be open, 3 ms that the set lives
-- reply 'reserved' | 'full', ids
-- uses values

needsRoom(KEYS[1])
call('ZCARD', KEYS[1])
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
  return answer('full', redis.call('ZRANGE', KEYS[1], 0, -1))
end
redis.call('ZADD', KEYS[1], now(), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return answer('reserved')
