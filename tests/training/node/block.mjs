// Runs one block of breaks/node*.toml, given as JSON on standard input, and prints what each case said.
// `setup` is statements, `run` an expression over the arguments; what it throws, or returns as an Error
// or as { refused, status }, is the message.
import fs from 'node:fs';
import { require, said, within } from './packages.mjs';
import * as net from './net.mjs';

process.on('uncaughtException', () => {});
process.on('unhandledRejection', () => {});
const block = JSON.parse(fs.readFileSync(0, 'utf8'));
const print = process.stdout.write.bind(process.stdout);
const tell = (answer) => print(`${JSON.stringify(answer)}\n`);
for (const way of ['log', 'info', 'warn', 'error', 'debug']) console[way] = () => {};
process.stdout.write = process.stderr.write = () => true;
Object.assign(globalThis, { require, net });

const names = new Set(block.cases.flatMap(([, args]) => Object.keys(args)));
const compiled = async () => (await within(20, import(`data:text/javascript,${encodeURIComponent(
  `${block.setup ?? ''}\nexport default async (args) => { const { ${[...names].join(', ')} } = args; return ${block.run}; };`,
)}`))).default;

/** The result; an argument that only other cases would have is undefined. */
async function result(args) {
  for (;;) {
    try {
      return await (await compiled())(args);
    } catch (error) {
      const name = /^(\w+) is not defined$/.exec(error?.message ?? '')?.[1];
      if (!name || names.has(name) || !new RegExp(`\\b${name}\\b`).test(block.run)) throw error;
      names.add(name);
    }
  }
}

function whole(error) {
  const { text, ...rest } = said(error);
  const inner = error?.cause?.message || error?.errors?.[0]?.message;
  return { ...rest, text: inner && !text.includes(inner) ? [text, inner].filter(Boolean).join(': ') : text };
}

try {
  await compiled();
} catch (error) {
  tell({ left_out: said(error).text });
  process.exit(0);
}
for (const [, given] of block.cases) {
  let answer = null;
  const args = await net.placed(given);
  try {
    const value = await within(block.seconds ?? 8, result(args));
    if (value instanceof Error) answer = whole(value);
    else if (value?.refused) answer = { exception: null, status: value.status ?? null, text: String(value.refused) };
  } catch (error) { answer = whole(error); }
  tell(answer && { ...answer, arguments: args });
}
process.exit(0);
