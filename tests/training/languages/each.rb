# Runs blocks in Ruby: reads [{system, setup, run, cases}] as JSON, prints a line of JSON for each case.
require 'json'
require 'timeout'
blocks = JSON.parse($stdin.read)
out = $stdout.dup
$stdout = $stderr
blocks.each_with_index do |block, n|
  begin
    scope = Module.new.module_eval('binding')
    scope.eval(block['setup'])
  rescue Exception => e
    out.puts JSON.generate(system: block['system'], failed: "#{e.class}: #{e.message}"[0, 300])
    next
  end
  block['cases'].each_with_index do |given, i|
    row = { system: block['system'], case: i }
    begin
      scope.local_variable_set(:a, given.transform_keys(&:to_sym))
      Timeout.timeout(12, NoMemoryError) { scope.eval(block['run']) }
    rescue NoMemoryError
      row[:text] = nil
    rescue Exception => e
      row[:exception] = e.class.name
      row[:text] = e.message.dup.force_encoding('UTF-8').scrub
    end
    out.puts JSON.generate(row)
  end
end
out.flush
exit!(0)
