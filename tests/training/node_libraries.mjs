// Breaks Node packages on purpose: `NODE_MODULES=… node node_libraries.mjs breaks/node.toml …` prints a JSON
// line for each message. Each block runs in a process of its own; what does not run is left out and listed.
// A block: `setup`, `run`, `cases = [[what is broken (labels.toml), arguments, parameters at fault]]`;
// `levers` are arguments that are not shown; `like` names lists of cases under [shared]; `net:word` in an
// argument is an address of this machine (net.mjs).
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { require } from './node/packages.mjs';

const SECONDS = 60;
const AT_ONCE = 2;
const { parse } = require('smol-toml');
const BLOCK = fileURLToPath(new URL('./node/block.mjs', import.meta.url));

// Where the network's own words say something else than what was broken, they are the label.
const NETWORK = new Set(['tr', 'to', 'fo', 'mis', 'tmo']);
const WORDS = [[/ENOTFOUND/, 'dns'], [/ECONNREFUSED|ECONNRESET|socket hang up/, 'tr'], [/ETIMEDOUT|TIMEOUT$/, 'to'], [/operation was aborted\.$/, 'abrt']];
const HINTLESS = new Set(['perm', 'fo', 'rate', 'tr', 'to']);
const read = (label, text) => (NETWORK.has(label) && WORDS.find(([words]) => words.test(text))?.[1]) || label;

const tell = (line) => console.log(JSON.stringify(line));

function answers(block) {
  return new Promise((yes) => {
    const child = spawn(process.execPath, [BLOCK], { stdio: ['pipe', 'pipe', 'ignore'] });
    let out = '';
    const timer = setTimeout(() => child.kill('SIGKILL'), SECONDS * 1000);
    child.stdout.on('data', (part) => { out += part; });
    child.stdin.on('error', () => {});
    child.on('close', () => { clearTimeout(timer); yes(out.split('\n').filter(Boolean).map((line) => JSON.parse(line))); });
    child.stdin.end(JSON.stringify(block));
  });
}

/** Arguments and parameters without the levers of the block: they are ours, no caller would know them. */
function shown({ levers = [] }, args, params) {
  const without = (names) => names.filter((name) => !levers.includes(name));
  return {
    arguments: Object.fromEntries(without(Object.keys(args)).map((name) => [name, args[name]])),
    params: params.every((p) => typeof p === 'string') ? without(params) : params.map(without),
  };
}

/** Why an answer is no message of what was broken, or null. */
function unfit(label, answer) {
  if (answer === undefined || answer?.text === 'DID NOT END') return 'did not end';
  if (answer === null) return 'did not fail';
  const mute = HINTLESS.has(label) && /^fetch failed$|^Found$/.test(answer.text);
  return mute || !answer.text.trim() ? 'said nothing' : null;
}

async function run(system, block) {
  const said = await answers(block);
  if (said[0]?.left_out) return tell({ system, left_out: said[0].left_out.slice(0, 300) });
  block.cases.forEach(([label, args, params], i) => {
    const why = unfit(label, said[i]);
    if (why) return tell({ system, left_out: why, arguments: args });
    const { arguments: given, ...answer } = said[i];
    tell({ system: block.system ?? system, label: read(label, answer.text), ...answer, ...shown(block, given, params ?? Object.keys(args)) });
  });
}

const only = new Set((process.env.ONLY ?? '').split(',').filter(Boolean));
const queue = process.argv.slice(2).flatMap((file) => {
  const { shared = {}, ...blocks } = parse(fs.readFileSync(file, 'utf8'));
  return Object.entries(blocks).map(([system, block]) => [system, { ...block, cases: [...(block.like ?? []).flatMap((list) => shared[list]), ...(block.cases ?? [])] }]);
}).filter(([system]) => !only.size || only.has(system));
await Promise.all(Array.from({ length: AT_ONCE }, async () => { for (let next = queue.shift(); next; next = queue.shift()) await run(...next); }));
process.exit(0);
