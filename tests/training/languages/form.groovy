// One form in each Java library that checks forms: reads it and its broken copies as JSON,
// prints a line of JSON for each answer.
import com.fasterxml.jackson.databind.DeserializationFeature
import com.fasterxml.jackson.databind.MapperFeature
import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.annotation.JsonCreator
import com.fasterxml.jackson.annotation.JsonProperty
import com.google.gson.Gson
import groovy.json.JsonOutput
import groovy.json.JsonSlurper
import javax.validation.constraints.*

enum Cut { small, large }
class Place { String town; String code }
class Order { String title; Integer amount; Cut size; String contact; java.sql.Date due; String ref; List<String> labels; URL site; Place place; Boolean paid; Double price }

class Strict {
    @JsonCreator
    Strict(@JsonProperty(value = 'title', required = true) String title, @JsonProperty(value = 'amount', required = true) int amount,
           @JsonProperty(value = 'size', required = true) Cut size, @JsonProperty(value = 'due', required = true) java.sql.Date due,
           @JsonProperty(value = 'labels', required = true) List<String> labels, @JsonProperty(value = 'place', required = true) Place place,
           @JsonProperty(value = 'paid', required = true) boolean paid, @JsonProperty(value = 'price', required = true) double price,
           @JsonProperty('contact') String contact, @JsonProperty('ref') String ref, @JsonProperty('site') URL site) { }
}

class Checked {
    @NotNull @Size(min = 2, max = 12) String title
    @NotNull @Min(1L) @Max(50L) Integer amount
    @NotNull @Pattern(regexp = 'small|large') String size
    @org.hibernate.validator.constraints.Email String contact
    @NotNull @Pattern(regexp = '[A-Z]{2}[0-9]{2}') String ref
    @Size(min = 1, max = 3) List labels
    @org.hibernate.validator.constraints.URL String site
    @NotNull Boolean paid
    @Digits(integer = 4, fraction = 1) BigDecimal price
}

class PicoOrder implements Runnable {
    @picocli.CommandLine.Parameters(index = '0', paramLabel = 'TITLE') String title
    @picocli.CommandLine.Option(names = '--amount', required = true) int amount
    @picocli.CommandLine.Option(names = '--size', required = true) Cut size
    @picocli.CommandLine.Option(names = '--due', required = true) java.time.LocalDate due
    @picocli.CommandLine.Option(names = '--labels', required = true, split = ',', arity = '1..3') List<String> labels
    @picocli.CommandLine.Option(names = '--site', required = true) URL site
    @picocli.CommandLine.Option(names = '--price', required = true) double price
    @picocli.CommandLine.Option(names = '--paid', arity = '1', required = true) boolean paid
    void run() { }
}

class JcOrder {
    @com.beust.jcommander.Parameter(names = '--amount', required = true) Integer amount
    @com.beust.jcommander.Parameter(names = '--size', required = true) Cut size
    @com.beust.jcommander.Parameter(names = '--labels', required = true, variableArity = true) List<String> labels = []
    @com.beust.jcommander.Parameter(names = '--site', required = true) URL site
    @com.beust.jcommander.Parameter(names = '--price', required = true) Double price
    @com.beust.jcommander.Parameter(names = '--paid', arity = 1, required = true) boolean paid
}

class ArgsOrder {
    @org.kohsuke.args4j.Option(name = '--amount', required = true) public int amount
    @org.kohsuke.args4j.Option(name = '--size', required = true) public Cut size
    @org.kohsuke.args4j.Option(name = '--site', required = true) public URL site
    @org.kohsuke.args4j.Option(name = '--price', required = true) public double price
    @org.kohsuke.args4j.Argument(metaVar = 'TITLE', required = true) public String title
}

def given = new JsonSlurper().parse(System.in.bytes)
def out = System.out
System.out = System.err
def json = { JsonOutput.toJson(it) }
def argv = { Map f, List names, boolean joined = false -> f.findAll { k, v -> k in names || !given.valid.containsKey(k) }.collectMany { k, v ->
    v == null ? ["--$k".toString()] : v instanceof List ? ["--$k".toString(), joined ? v.join(',') : v*.toString()].flatten() : ["--$k".toString(), v.toString()] } }

def makers = [:]
makers['jackson'] = {
    def mapper = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES).enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
        .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS).disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
    return { f -> mapper.readValue(json(f), Strict); null }
}
makers['gson'] = {
    def gson = new Gson()
    return { f -> gson.fromJson(json(f.findAll { it.key != 'due' }), Order); null }
}
makers['snakeyaml'] = {
    return { f -> new org.yaml.snakeyaml.Yaml(new org.yaml.snakeyaml.constructor.Constructor(Order)).load(json(f)); null }
}
makers['hibernate-validator'] = {
    def factory = javax.validation.Validation.byProvider(org.hibernate.validator.HibernateValidator).configure()
        .messageInterpolator(new org.hibernate.validator.messageinterpolation.ParameterMessageInterpolator()).buildValidatorFactory()
    def validator = factory.validator
    return { f ->
        def c = new Checked()
        f.each { k, v -> if (k in ['title', 'amount', 'size', 'contact', 'ref', 'labels', 'site', 'paid', 'price']) c[k] = v }
        def said = validator.validate(c)
        said ? said.collect { "${it.propertyPath}: ${it.message}" }.sort().join(', ') : null
    }
}
makers['picocli'] = {
    return { f ->
        def rest = argv(f, ['amount', 'size', 'due', 'labels', 'site', 'price', 'paid'], true)
        def line = new picocli.CommandLine(new PicoOrder())
        line.parseArgs((rest + (f.title == null ? [] : [f.title.toString()])) as String[])
        null
    }
}
makers['jcommander'] = {
    return { f -> com.beust.jcommander.JCommander.newBuilder().addObject(new JcOrder()).build().parse(argv(f, ['amount', 'size', 'site', 'price', 'paid', 'labels']) as String[]); null }
}
makers['args4j'] = {
    return { f -> new org.kohsuke.args4j.CmdLineParser(new ArgsOrder()).parseArgument((argv(f, ['amount', 'size', 'site', 'price']) + (f.title == null ? [] : [f.title.toString()])) as String[]); null }
}
makers['commons-cli'] = {
    def o = org.apache.commons.cli.Option
    def options = new org.apache.commons.cli.Options()
    [amount: Number, price: Number, size: String, site: URL, ref: String].each { name, type -> options.addOption(o.builder().longOpt(name).hasArg().type(type).required().build()) }
    return { f ->
        def line = new org.apache.commons.cli.DefaultParser().parse(options, argv(f, ['amount', 'size', 'site', 'price', 'ref']) as String[])
        options.options.each { line.getParsedOptionValue(it.longOpt) }
        null
    }
}
makers['jopt-simple'] = {
    def parser = new joptsimple.OptionParser()
    parser.accepts('amount').withRequiredArg().ofType(Integer).required()
    parser.accepts('price').withRequiredArg().ofType(Double).required()
    parser.accepts('size').withRequiredArg().ofType(Cut).required()
    parser.accepts('site').withRequiredArg().ofType(URL).required()
    parser.accepts('ref').withRequiredArg().withValuesConvertedBy(joptsimple.util.RegexMatcher.regex('[A-Z]{2}[0-9]{2}')).required()
    parser.accepts('due').withRequiredArg().withValuesConvertedBy(joptsimple.util.DateConverter.datePattern('yyyy-MM-dd')).required()
    return { f -> def set = parser.parse(argv(f, ['amount', 'size', 'site', 'price', 'ref', 'due']) as String[]); set.asMap().keySet().each { k -> k.options().each { set.valueOf(it) } }; null }
}
makers['xstream'] = {
    def x = new com.thoughtworks.xstream.XStream()
    x.allowTypes([Order, Place, Cut] as Class[]); x.alias('order', Order)
    return { f ->
        def w = new StringWriter()
        new groovy.xml.MarkupBuilder(w).order { f.each { k, v -> if (k in ['title', 'amount', 'size', 'paid', 'price', 'site'] || !given.valid.containsKey(k)) "$k"(v) } }
        x.fromXML(w.toString()); null
    }
}
makers.each { system, make ->
    def check
    try { check = make() } catch (Throwable e) { out.println(json([system: system, failed: (e.class.name + ': ' + e.message).take(300)])); return }
    ([given.valid] + given.broken).eachWithIndex { form, i ->
        def row = [system: system, case: i - 1]
        try {
            row.text = check(form)
            if (row.text == null) return
            row.text = row.text.toString()
        } catch (Throwable e) {
            row.exception = e.class.name
            row.text = e.message ?: e.toString()
        }
        out.println(json(row))
    }
}
out.flush()
System.exit(0)
