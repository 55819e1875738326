-- Marks a file again whose permit ended although the intent on it was not published.
-- KEYS 1 permit   ARGV 1 mark, 2 ms that the mark lives
-- reply 'done'
-- uses values

redis.call('SET', KEYS[1] .. ':m', ARGV[1], 'NX', 'PX', ARGV[2])
return answer('done')
