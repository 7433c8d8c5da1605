# One form in each Ruby library that checks forms: reads it and its broken copies as JSON,
# prints a line of JSON for each answer.
require 'json'
require 'date'
require 'set'
require 'timeout'
require 'logger'

IN = JSON.parse($stdin.read)
OUT = $stdout.dup
$stdout = $stderr
MAKERS = {}
REF = /\A[A-Z]{2}[0-9]{2}\z/
EMAIL = /\A\S+@\S+\.\S+\z/
URL = %r{\Ahttps?://}
def maker(name, &make) = MAKERS[name] = make
def less(form, *names) = form.reject { |k, _| names.include?(k) }

maker('json-schema.rb') do
  require 'json-schema'
  ->(f) { JSON::Validator.validate!(IN['schema'], f); nil }
end

maker('json-schemer') do
  require 'json_schemer'
  s = JSONSchemer.schema(IN['schema'])
  ->(f) { e = s.validate(f).to_a; e.empty? ? nil : e.map { |x| x['error'] || JSON.generate(x.slice('data', 'data_pointer', 'schema', 'type', 'details')) }.join("\n") }
end

maker('activemodel') do
  require 'active_model'
  class AmOrder
    include ActiveModel::Model
    attr_accessor :title, :amount, :size, :contact, :due, :ref, :labels, :site, :place, :paid, :price
    validates :title, presence: true, length: { in: 2..12 }
    validates :amount, numericality: { only_integer: true, in: 1..50 }
    validates :size, inclusion: { in: %w[small large] }
    validates :contact, format: { with: EMAIL }
    validates :ref, format: { with: REF }
    validates :labels, length: { in: 1..3 }
    validates :paid, inclusion: { in: [true, false] }
    validates :price, numericality: true
    validates :site, format: { with: URL }
  end
  ->(f) { AmOrder.new(f).validate!; nil }
end

maker('activerecord') do
  require 'active_record'
  ActiveRecord::Base.establish_connection(adapter: 'sqlite3', database: ':memory:')
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:ar_orders) do |t|
      t.string :title, null: false, limit: 12
      t.integer :amount, null: false
      t.string :size
      t.string :ref, null: false
      t.date :due
      t.boolean :paid, null: false
      t.float :price
      t.check_constraint 'amount between 1 and 50', name: 'amount_in_stock'
    end
  end
  class ArOrder < ActiveRecord::Base
    enum size: { small: 'small', large: 'large' }
    validates :title, length: { minimum: 2, maximum: 12, too_short: 'needs at least %{count} characters' }
    validates :ref, presence: true, format: { with: REF, message: 'must be two letters and two digits' }
    validates :price, numericality: { greater_than: 0 }
  end
  ->(f) { ArOrder.transaction { ArOrder.create!(less(f, 'contact', 'labels', 'site', 'place')); raise ActiveRecord::Rollback }; nil }
end

maker('sequel') do
  require 'sequel'
  db = Sequel.sqlite
  db.run "create table orders(id integer primary key, title text not null, amount integer not null check(amount between 1 and 50), size text, contact text, due date, ref text, paid boolean, price real)"
  model = Class.new(Sequel::Model(db[:orders])) do
    plugin :validation_helpers
    def validate
      super
      validates_presence %i[title amount ref]
      validates_length_range 2..12, :title
      validates_integer :amount
      validates_includes %w[small large], :size
      validates_format REF, :ref
      validates_format EMAIL, :contact
      validates_type [TrueClass, FalseClass], :paid
      validates_numeric :price
    end
  end
  ->(f) { db.transaction(rollback: :always) { model.create(less(f, 'labels', 'site', 'place')) }; nil }
end

maker('dry-types') do
  require 'dry-types'
  module DT; include Dry.Types(); end
  place = DT::Hash.schema(town: DT::Strict::String, code: DT::Strict::String).with_key_transform(&:to_sym)
  s = DT::Hash.schema(
    title: DT::Strict::String.constrained(min_size: 2, max_size: 12), amount: DT::Strict::Integer.constrained(gteq: 1, lteq: 50),
    size: DT::Strict::String.enum('small', 'large'), contact: DT::Strict::String.constrained(format: EMAIL), due: DT::JSON::Date,
    ref: DT::Strict::String.constrained(format: REF), labels: DT::Strict::Array.of(DT::Strict::String).constrained(min_size: 1, max_size: 3),
    site: DT::Strict::String, place: place, paid: DT::Strict::Bool, price: DT::Strict::Float
  ).strict.with_key_transform(&:to_sym)
  ->(f) { s[f]; nil }
end

maker('grape') do
  require 'grape'
  require 'rack/mock'
  api = Class.new(Grape::API) do
    format :json
    params do
      requires :title, type: String, length: { min: 2, max: 12 } rescue requires :title, type: String, regexp: /\A.{2,12}\z/
      requires :amount, type: Integer, values: 1..50
      requires :size, type: String, values: %w[small large]
      requires :contact, type: String, regexp: EMAIL, allow_blank: false
      requires :due, type: Date
      requires :ref, type: String, regexp: REF
      requires :labels, type: Array[String]
      requires :place, type: Hash do
        requires :town, type: String
        requires :code, type: String
      end
      requires :paid, type: Grape::API::Boolean
      requires :price, type: Float
    end
    post('/orders') { {} }
  end
  mock = Rack::MockRequest.new(api)
  ->(f) { r = mock.post('/orders', input: JSON.generate(f), 'CONTENT_TYPE' => 'application/json'); r.status < 300 ? nil : [r.status, r.body] }
end

maker('virtus') do
  require 'virtus'
  k = Class.new do
    include Virtus.model(strict: true, required: true)
    attribute :title, String
    attribute :amount, Integer
    attribute :labels, Array[String]
    attribute :paid, Virtus::Attribute::Boolean
    attribute :price, Float
    attribute :due, Date
  end
  ->(f) { k.new(less(f, 'size', 'contact', 'ref', 'site', 'place').transform_keys(&:to_sym)); nil }
end

maker('hashie') do
  require 'hashie'
  k = Class.new(Hashie::Dash) do
    include Hashie::Extensions::Dash::Coercion
    property :title, required: true
    property :amount, required: true, coerce: Integer
    property :size, required: -> { true }, message: 'must be chosen'
    property :price, coerce: Float
    property :paid, required: true
    property :place, coerce: Hash
    %i[contact due ref labels site].each { |n| property n }
  end
  ->(f) { k.new(f.transform_keys(&:to_sym)); nil }
end

maker('graphql_ruby') do
  require 'graphql'
  module Gq
    class Size < GraphQL::Schema::Enum; value 'small'; value 'large'; end
    class Place < GraphQL::Schema::InputObject; argument :town, String, required: true; argument :code, String, required: true; end
    class Order < GraphQL::Schema::InputObject
      argument :title, String, required: true, validates: { length: { minimum: 2, maximum: 12 } }
      argument :amount, Integer, required: true, validates: { numericality: { greater_than_or_equal_to: 1, less_than_or_equal_to: 50 } }
      argument :size, Size, required: true
      argument :ref, String, required: true, validates: { format: { with: REF } }
      argument :due, GraphQL::Types::ISO8601Date, required: true
      argument :labels, [String], required: true, validates: { length: { minimum: 1, maximum: 3 } }
      argument :place, Place, required: true
      argument :paid, Boolean, required: true
      argument :price, Float, required: true
    end
    class Query < GraphQL::Schema::Object
      field(:order, Integer, null: true) { argument :input, Order, required: true }
      def order(input:) = 1
    end
    class S < GraphQL::Schema; query Query; end
  end
  q = 'query($input: Order!) { order(input: $input) }'
  ->(f) { r = Gq::S.execute(q, variables: { 'input' => less(f, 'contact', 'site') }).to_h; r['errors'] ? [200, JSON.generate('errors' => r['errors'])] : nil }
end

maker('thor') do
  require 'thor'
  k = Class.new(Thor) do
    def self.exit_on_failure? = false
    def self.name = 'orders'
    desc 'order TITLE', 'Orders'
    method_option :amount, type: :numeric, required: true
    method_option :size, enum: %w[small large], required: true
    method_option :labels, type: :array, required: true
    method_option :place, type: :hash, required: true
    method_option :price, type: :numeric, required: true
    method_option :paid, type: :boolean
    method_option :ref, type: :string, required: true
    check_unknown_options!
    def order = nil
  end
  lambda do |f|
    argv = less(f, 'contact', 'due', 'site', 'title').flat_map do |n, v|
      case v
      when nil then ["--#{n}"]
      when true, false then [v ? "--#{n}" : "--no-#{n}"]
      when Array then ["--#{n}", *v.map(&:to_s)]
      when Hash then ["--#{n}", *v.map { |a, b| "#{a}:#{b}" }]
      else ["--#{n}=#{v}"]
      end
    end
    said = StringIO.new
    was, $stderr = $stderr, said
    begin
      k.start(['order', *argv])
    ensure
      $stderr = was
    end
    said.string.strip.empty? ? nil : said.string.strip
  end
end

maker('optparse.rb') do
  require 'optparse'
  require 'optparse/date'
  lambda do |f|
    argv = less(f, 'title', 'contact', 'place', 'site').flat_map { |n, v| v.nil? ? ["--#{n}"] : v == true ? ["--#{n}"] : ["--#{n}=#{v.is_a?(Array) ? v.join(',') : v}"] }
    into = {}
    OptionParser.new do |o|
      o.on('--amount N', Integer)
      o.on('--size S', %w[small large])
      o.on('--due D', Date)
      o.on('--ref R', REF)
      o.on('--labels A,B', Array)
      o.on('--price F', Float)
      o.on('--[no-]paid')
    end.parse!(argv, into: into)
    raise OptionParser::InvalidArgument, argv.join(' ') unless argv.empty?
  end
end

maker('optimist') do
  require 'optimist'
  lambda do |f|
    argv = less(f, 'title', 'contact', 'place', 'site', 'ref', 'paid').flat_map { |n, v| ["--#{n}", *(v.nil? ? [] : v.is_a?(Array) ? v.map(&:to_s) : [v.to_s])] }
    parser = Optimist::Parser.new do
      opt :amount, 'How many', type: :int, required: true
      opt :size, 'Size', type: :string, required: true
      opt :due, 'When', type: :date, required: true
      opt :labels, 'Labels', type: :strings, required: true
      opt :price, 'Price', type: :float, required: true
    end
    parser.parse(argv)
    nil
  end
end

maker('slop.rb') do
  require 'slop'
  lambda do |f|
    argv = less(f, 'title', 'contact', 'place', 'site', 'due').flat_map { |n, v| v == true ? ["--#{n}"] : ["--#{n}", *(v.nil? ? [] : [v.is_a?(Array) ? v.join(',') : v.to_s])] }
    Slop.parse(argv) do |o|
      o.integer '--amount', required: true
      o.string '--size', required: true
      o.regexp '--ref', required: true
      o.array '--labels', required: true
      o.float '--price', required: true
      o.bool '--paid', required: true
    end
    nil
  end
end

maker('clamp') do
  require 'clamp'
  k = Class.new(Clamp::Command) do
    option '--amount', 'N', 'how many', required: true do |s|
      n = Integer(s)
      raise ArgumentError, 'must lie between 1 and 50' unless n.between?(1, 50)
      n
    end
    option '--size', 'SIZE', 'size', required: true do |s|
      raise ArgumentError, "must be 'small' or 'large'" unless %w[small large].include?(s)
      s
    end
    option '--price', 'PRICE', 'price', required: true do |s| Float(s) end
    option '--due', 'DATE', 'when', required: true do |s| Date.iso8601(s) end
    parameter 'TITLE', 'what'
    def execute = nil
  end
  lambda do |f|
    argv = less(f, 'contact', 'place', 'site', 'ref', 'labels', 'paid', 'title').flat_map { |n, v| ["--#{n}", *(v.nil? ? [] : [v.to_s])] }
    argv << f['title'].to_s if f['title']
    k.new('order').run(argv)
    nil
  end
end

MAKERS.each do |system, make|
  begin
    check = make.call
    if defined?(I18n)
      I18n.load_path |= Dir['/usr/share/rubygems-integration/all/gems/{activemodel,activerecord,grape}-*/lib/*/locale/en.yml', '/usr/lib/ruby/vendor_ruby/{active_model,active_record,grape}/locale/en.yml']
      I18n.reload!
    end
  rescue Exception => e
    OUT.puts JSON.generate(system: system, failed: "#{e.class}: #{e.message}"[0, 300])
    next
  end
  [IN['valid'], *IN['broken']].each_with_index do |form, i|
    row = { system: system, case: i - 1 }
    begin
      said = Timeout.timeout(5) { check.call(Marshal.load(Marshal.dump(form))) }
      next if said.nil? || said == {}
      row[:status], row[:text] = said.is_a?(Array) ? said : [nil, said.to_s]
    rescue Exception => e
      row[:exception] = e.class.name
      row[:text] = e.message
    end
    OUT.puts JSON.generate(row.transform_values { |v| v.is_a?(String) ? v.scrub : v })
  end
end
OUT.flush
