-- Takes the permit of a file, or a place in its queue (reading §8.3). A mark tells whose intent was staged on the file last and never committed.
-- KEYS 1 permit   ARGV 1 token, 2 lease in ms, 3 ticket in ms, 4 '1' when it may wait
-- reply 'held', mark or '' | 'busy'
-- uses values, permit

needsRoom(KEYS[1])
if not acquire(KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1') then return answer('busy') end
return answer('held', call('GET', KEYS[1] .. ':m') or '')
