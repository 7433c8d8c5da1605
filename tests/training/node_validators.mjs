// One form in each JavaScript library that checks forms, broken in the same ways. Prints a JSON line for
// each message: `NODE_MODULES=… node node_validators.mjs [SYSTEM …] | python node_rows.py OUT.jsonl`.
// What a library does not check is not broken for it: an attempt that passes is no message.
import fs from 'node:fs';
import { said, within } from './node/packages.mjs';

const { default: forms } = await import('./node/forms.mjs');
const { default: schemas, languages, localised } = await import('./node/schemas.mjs');
const FORM = JSON.parse(fs.readFileSync(new URL('./breaks/form.json', import.meta.url)));
const wanted = new Set(process.argv.slice(2));
const none = (system, why) => console.log(JSON.stringify({ system, left_out: String(why).slice(0, 300) }));

// Those that read JSON Schema get the form under other names, so that words of one form are not learned.
const NAMES = [
  {},
  { title: 'subject', amount: 'count', size: 'tier', contact: 'email', due: 'deadline', ref: 'ticket', labels: 'tags', site: 'homepage', place: 'address', town: 'city', code: 'zip', paid: 'active', price: 'weight', colour: 'mood', amuont: 'coutn' },
  { title: 'nickname', amount: 'limit', size: 'mode', contact: 'mailTo', due: 'startDay', ref: 'seatCode', labels: 'genres', site: 'callbackUrl', place: 'origin', town: 'harbour', code: 'gate', paid: 'dryRun', price: 'ratio', colour: 'note', amuont: 'limti' },
];

function renamed(value, names) {
  if (Array.isArray(value)) return value.map((x) => renamed(x, names));
  if (value && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([k, x]) => [names[k] ?? k, k === 'required' ? x.map((n) => names[n] ?? n) : renamed(x, names)]));
  return value;
}
const path = (p, names) => p.split('.').map((k) => names[k] ?? k).join('.');

async function run(system, make, names = {}) {
  const valid = renamed(FORM.valid, names);
  let check;
  try {
    globalThis.FORM = renamed(FORM.schema, names);
    check = await within(20, Promise.resolve().then(() => make(structuredClone(globalThis.FORM))));
    const wrong = await within(5, check(structuredClone(valid)));
    if (wrong) throw new Error(`the valid form fails: ${JSON.stringify(wrong)}`);
  } catch (error) { return none(system, said(error).text); }
  for (const [label, edit, params] of FORM.breaks) {
    const broken = Object.fromEntries(Object.entries({ ...valid, ...renamed(edit, names) }).filter(([, v]) => v !== '$del'));
    let answer;
    try {
      const text = await within(5, Promise.resolve().then(() => check(structuredClone(broken))));
      if (!text) continue;
      answer = { exception: null, status: null, ...(typeof text === 'object' ? text : { text }) };
    } catch (error) { answer = { ...said(error), status: null }; }
    if (answer.text?.trim()) console.log(JSON.stringify({ system, label, ...answer, arguments: broken, params: params.map((ps) => ps.map((p) => path(p, names))) }));
  }
}

const makers = Object.entries(forms).map(([name, make]) => [name, make, {}]);
Object.entries(schemas).forEach(([name, make], i) => makers.push([name, make, NAMES[i % NAMES.length]]));
languages.forEach((language, i) => makers.push([`ajv-i18n-${language}`, localised(language), NAMES[i % NAMES.length]]));
for (const [name, make, names] of makers) if (!wanted.size || wanted.has(name)) await run(name, make, names);
process.exit(0);
