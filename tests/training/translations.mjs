// What npm packages say in other languages: `NODE_MODULES=… node translations.mjs FORM.json OUT.json`.
// `tables`: the texts of a library by language and key. `ran`: what validators said of broken forms.
import { createRequire } from "node:module";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import vm from "node:vm";

const [form, out] = process.argv.slice(2);
const modules = process.env.NODE_MODULES;
const require = createRequire(join(modules, "x.js"));
const { valid, schema, breaks } = JSON.parse(readFileSync(form, "utf8"));

const files = (folder, end) =>
  readdirSync(join(modules, folder)).filter((name) => name.endsWith(end) && !/\.(min|d|extra)\./.test(name));
const flat = (value, at = "", found = {}) => {
  if (typeof value === "string") found[at.slice(1)] = value;
  else if (value && typeof value === "object")
    for (const [key, inner] of Object.entries(value)) flat(inner, `${at}.${key}`, found);
  return found;
};
const table = (folder, end, read) =>
  Object.fromEntries(files(folder, end).map((name) => [name.slice(0, -end.length), flat(read(join(modules, folder, name)))]));

function shown(file) {
  // A script that hands its texts to a library of the page.
  let texts = {};
  const format = (text) => text;
  const $ = { extend: (_, more) => Object.assign(texts, more), validator: { format, messages: {}, methods: {} } };
  const keep = (_, more) => Object.assign(texts, more);
  const window = { jQuery: $, $, Parsley: { addMessages: keep, addMessage: () => {}, setLocale: () => {} } };
  vm.runInNewContext(readFileSync(file, "utf8"), { ...window, window });
  return texts;
}

const tables = {
  "vee-validate": table("@vee-validate/i18n/dist/locale", ".json", (file) => require(file).messages),
  validatorjs: table("validatorjs/src/lang", ".js", require),
  antd: table("antd/lib/locale", ".js", (file) => (/_[A-Z]{2}\.js$/.test(file) ? require(file).default.Form?.defaultValidateMessages : null)),
  devextreme: table("devextreme/localization/messages", ".json", (file) => Object.values(require(file))[0]),
  "jquery-validation": table("jquery-validation/dist/localization", ".js", (file) => (file.includes("messages_") ? shown(file) : {})),
  parsley: table("parsleyjs/dist/i18n", ".js", shown),
};

const ran = [];
const broken = breaks.map(([label, change, params]) => {
  const value = structuredClone(valid);
  for (const [key, to] of Object.entries(change)) to === "$del" ? delete value[key] : (value[key] = to);
  return { label, params, value };
});
function tell(system, language, check) {
  for (const { label, params, value } of broken) {
    const message = check(value);
    if (message) ran.push({ system, language, label, params, arguments: value, message });
  }
}

const { z } = require("zod");
const zod = z.strictObject({
  title: z.string().min(2).max(12), amount: z.int().min(1).max(50), size: z.enum(["small", "large"]),
  contact: z.email(), due: z.iso.date(), ref: z.string().regex(/^[A-Z]{2}[0-9]{2}$/),
  labels: z.array(z.string()).min(1).max(3), site: z.url(), place: z.object({ town: z.string(), code: z.string() }),
  paid: z.boolean(), price: z.number().multipleOf(0.5),
});
for (const language of files("zod/v4/locales", ".cjs").map((name) => name.slice(0, -4))) {
  if (language === "index") continue;
  const made = require(`zod/v4/locales/${language}.cjs`);
  z.config((made.default ?? made)());
  tell("zod", language, (value) => {
    const error = zod.safeParse(value).error;
    if (!error) return null;
    const { fieldErrors, formErrors } = z.flattenError(error);
    return formErrors.length ? formErrors.join("\n") : JSON.stringify(fieldErrors);
  });
}

const Ajv = require("ajv/dist/2019").default;
const ajv = new Ajv({ allErrors: true });
require("ajv-formats").default(ajv);
const localize = require("ajv-i18n");
const checked = ajv.compile(schema);
for (const language of Object.keys(localize))
  tell("ajv", language, (value) => {
    if (checked(value)) return null;
    localize[language](checked.errors);
    return ajv.errorsText(checked.errors, { dataVar: "body" });
  });

const yup = require("yup");
const texts = require("yup-locales");
for (const language of Object.keys(texts)) {
  if (!texts[language]?.mixed) continue;
  yup.setLocale(texts[language]);
  const text = () => yup.string().strict().required();
  const shape = yup.object({
    title: text().min(2).max(12), amount: yup.number().strict().integer().min(1).max(50).required(),
    size: text().oneOf(["small", "large"]), contact: text().email(), due: text(), ref: text().matches(/^[A-Z]{2}[0-9]{2}$/),
    labels: yup.array().of(yup.string()).min(1).max(3).required(), site: text().url(),
    place: yup.object({ town: text(), code: text() }), paid: yup.boolean().strict().required(), price: yup.number().strict().required(),
  }).noUnknown().strict();
  tell("yup", language, (value) => {
    try { shape.validateSync(value); return null; } catch (error) { return error.message; }
  });
}

const v = require("valibot");
const valibot = v.strictObject({
  title: v.pipe(v.string(), v.minLength(2), v.maxLength(12)), amount: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(50)),
  size: v.picklist(["small", "large"]), contact: v.pipe(v.string(), v.email()), due: v.pipe(v.string(), v.isoDate()),
  ref: v.pipe(v.string(), v.regex(/^[A-Z]{2}[0-9]{2}$/)), labels: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(3)),
  site: v.pipe(v.string(), v.url()), place: v.object({ town: v.string(), code: v.string() }), paid: v.boolean(),
  price: v.pipe(v.number(), v.multipleOf(0.5)),
});
for (const language of readdirSync(join(modules, "@valibot/i18n"))) {
  if (!existsSync(join(modules, "@valibot/i18n", language, "index.cjs"))) continue;
  require(`@valibot/i18n/${language}`);
  tell("valibot", language, (value) => {
    const { issues } = v.safeParse(valibot, value, { lang: language });
    return issues && JSON.stringify(v.flatten(issues).nested ?? v.flatten(issues).root);
  });
}

writeFileSync(out, JSON.stringify({ tables, ran }));
console.error(`${ran.length} messages, ${Object.keys(tables).length} tables`);
