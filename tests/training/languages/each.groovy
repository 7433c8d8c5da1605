// Runs blocks in Groovy: reads [{system, setup, run, cases}] as JSON, prints a line of JSON for each case.
import groovy.json.JsonOutput
import groovy.json.JsonSlurper
import java.util.concurrent.*

def out = System.out
System.out = System.err
def pool = Executors.newCachedThreadPool({ r -> def t = new Thread(r); t.daemon = true; t } as ThreadFactory)
new JsonSlurper().parse(System.in.bytes).each { block ->
    def script
    def scope = new Binding()
    try {
        script = new GroovyShell(this.class.classLoader, scope).parse(block.setup + ";\nreturn { -> " + block.run + " }")
        scope.setVariable('a', [:])
        def go = script.run()
        block.cases.eachWithIndex { given, i ->
            scope.setVariable('a', given)
            def row = [system: block.system, case: i]
            try {
                pool.submit({ go() } as Callable).get(12, TimeUnit.SECONDS)
            } catch (ExecutionException wrapped) {
                def e = wrapped.cause
                row.exception = e.class.name
                row.text = e.message ?: e.toString()
            } catch (TimeoutException ignored) { }
            out.println(JsonOutput.toJson(row))
        }
    } catch (Throwable e) {
        out.println(JsonOutput.toJson([system: block.system, failed: (e.class.name + ': ' + e.message).take(400)]))
    }
}
out.flush()
System.exit(0)
