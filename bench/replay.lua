-- Sends the requests of a file (the first argument) one after the other, again and again, and prints the results as JSON.
-- A line that no request contains separates them.
local requests, count, current = {}, 0, 0

function init(args)
  local file = assert(io.open(args[1], 'rb'))
  local text = file:read('*a')
  file:close()
  local from = 1
  while true do
    local first, last = text:find('\n--next--\n', from, true)
    if not first then break end
    count = count + 1
    requests[count] = text:sub(from, first - 1)
    from = last + 1
  end
end

function request()
  current = current % count + 1
  return requests[current]
end

function done(summary)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%.6f,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration / 1e6, errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
