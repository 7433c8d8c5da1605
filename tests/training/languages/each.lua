-- Runs blocks in Lua: reads [{system, setup, run, cases}] as JSON, prints a line of JSON for each case.
local json = require 'cjson'
local blocks = json.decode(io.read('a'))
for _, block in ipairs(blocks) do
  local scope = setmetatable({ a = {} }, { __index = _G })
  local setup, why = load(block.setup, 'app', 't', scope)
  local ok = setup and true
  if setup then ok, why = pcall(setup) end
  if not ok then
    print(json.encode({ system = block.system, failed = tostring(why) }))
  else
    local run = assert(load(block.run, 'app', 't', scope))
    for i, case in ipairs(block.cases) do
      scope.a = case
      local fine, said = pcall(run)
      local row = { system = block.system, case = i - 1 }
      if not fine then row.text = tostring(said) end
      print(json.encode(row))
    end
  end
end
