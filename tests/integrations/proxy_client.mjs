// A client of the TypeScript SDK: node proxy_client.mjs SDK (URL | COMMAND…), prints what it saw.
const [sdk, ...where] = process.argv.slice(2);
const load = (name) => import(`${sdk}/dist/esm/${name}.js`);
const { Client } = await load("client/index");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp");
const { StdioClientTransport } = await load("client/stdio");
const { ElicitRequestSchema } = await load("types");

const transport = where[0].startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(where[0]))
  : new StdioClientTransport({ command: where[0], args: where.slice(1), env: process.env, stderr: "ignore" });
const client = new Client({ name: "ts", version: "1" }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: { b: 4 } }));
await client.connect(transport);

const seen = { progress: [] };
seen.mended = await client.callTool({ name: "get_sum", arguments: { a: "2", b: 3 } });
seen.asked = await client.callTool({ name: "get-sum", arguments: { a: 2 } });
const long = { name: "trigger-long-running-operation", arguments: { duration: "0.4", steps: "2" } };
await client.callTool(long, undefined, { onprogress: (at) => seen.progress.push(at.progress) });
const soon = new AbortController();
setTimeout(() => soon.abort("enough"), 300);
long.arguments = { duration: 60, steps: 2 };
await client.callTool(long, undefined, { signal: soon.signal }).catch((why) => (seen.cut = `${why}`));
seen.healthy = await client.callTool({ name: "echo", arguments: { message: "x" } });
await client.close();
process.stdout.write(JSON.stringify(seen));
process.exit(0);
