-- Gives back places among the open sessions of a tenant.
-- KEYS 1 sessions of the tenant   ARGV session ids
-- reply 'done'
-- uses values

for _, id in ipairs(ARGV) do call('ZREM', KEYS[1], id) end
return answer('done')
