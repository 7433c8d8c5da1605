// Validators of JSON Schema: the form's own schema, the breaks of the form.
import { require } from './packages.mjs';

const j = JSON.stringify;

export default {
  'ajv-errors': (S) => {
    const ajv = new (require('ajv'))({ allErrors: true, strict: false });
    require('ajv-formats')(ajv);
    require('ajv-errors')(ajv);
    const words = { title: 'Please give the order a name of two to twelve letters', amount: 'How many? A whole number from 1 to 50', size: 'We sell small and large only', due: 'Tell us the day as YYYY-MM-DD', ref: 'A reference is two capital letters and two digits', paid: 'Say whether it was paid: true or false' };
    const check = ajv.compile({ ...S, errorMessage: { properties: words, required: { amount: 'An order without an amount cannot be placed', title: 'An order needs a name', paid: 'Nobody said whether it was paid' }, additionalProperties: 'There is more in the order than we asked for' } });
    return (a) => (check(a) ? null : ajv.errorsText(check.errors, { dataVar: 'order' }));
  },
  'is-my-json-valid': (S) => {
    const check = require('is-my-json-valid')(S, { verbose: true });
    return (a) => (check(a) ? null : check.errors.map((e) => `${e.field}: ${e.message}`).join('\n'));
  },
  djv: (S) => {
    const env = new (require('djv'))();
    env.addSchema('order', S);
    return (a) => { const r = env.validate('order', a); return r ? (typeof r === 'string' ? r : j(r)) : null; };
  },
  jsen: (S) => {
    const check = require('jsen')(S, { greedy: true });
    return (a) => (check(a) ? null : j(check.errors));
  },
  schemasafe: (S) => {
    const check = require('@exodus/schemasafe').validator(S, { includeErrors: true, allErrors: true, isJSON: true });
    return (a) => (check(a) ? null : j({ errors: check.errors }));
  },
  'cfworker-json-schema': async (S) => {
    const { Validator } = await import('@cfworker/json-schema');
    const v = new Validator(S, '2020-12');
    return (a) => { const r = v.validate(a); return r.valid ? null : r.errors.map((e) => `${e.instanceLocation} ${e.error}`).join('\n'); };
  },
  tv4: (S) => {
    const tv4 = require('tv4');
    tv4.addFormat({ date: (d) => (isNaN(Date.parse(d)) ? 'no date' : null), email: (d) => (d.includes('@') ? null : 'no address'), uri: (d) => (d.includes(':') ? null : 'no address') });
    return (a) => { const r = tv4.validateResult(a, S, false, true); return r.valid ? null : j({ code: r.error.code, message: r.error.message, dataPath: r.error.dataPath }); };
  },
  hyperjump: async (S) => {
    const { registerSchema, validate } = await import('@hyperjump/json-schema/draft-2020-12');
    const id = 'https://example.org/order';
    registerSchema({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...S }, id);
    const check = await validate(id);
    return (a) => { const r = check(a, 'DETAILED'); return r.valid ? null : j(r.errors); };
  },
  suretype: async (S) => {
    const { compile, raw } = await import('suretype');
    const check = compile(raw(S), { ensure: true, noColors: true });
    return (a) => { check(a); return null; };
  },
  'better-ajv-errors': async (S) => {
    const ajv = new (require('ajv'))({ allErrors: true, strict: false });
    require('ajv-formats')(ajv);
    const { betterAjvErrors } = await import('@apideck/better-ajv-errors');
    const check = ajv.compile(S);
    return (a) => (check(a) ? null : betterAjvErrors({ schema: S, data: a, errors: check.errors }).map((e) => `${e.message}${e.suggestion ? ` (${e.suggestion})` : ''}`).join('\n'));
  },
  'json-schema-library': async (S) => {
    const { compileSchema } = await import('json-schema-library');
    const node = compileSchema(S);
    return (a) => { const { errors } = node.validate(a); return errors.length ? errors.map((e) => `${e.code}: ${e.message}`).join('\n') : null; };
  },
  'json-gate': (S) => {
    const old = structuredClone(S);
    const walk = (s, needed) => { for (const [k, p] of Object.entries(s.properties ?? {})) { const inner = p.required ?? []; p.required = needed.includes(k); walk(p, inner); } };
    walk(old, old.required);
    delete old.required;
    const schema = require('json-gate').createSchema(old);
    return (a) => { schema.validate(a); return null; };
  },
  revalidator: (S) => {
    const old = structuredClone(S);
    for (const k of old.required) old.properties[k].required = true;
    delete old.required;
    for (const p of Object.values(old.properties)) { if (p.properties) { for (const k of p.required.length ? p.required : Object.keys(p.properties)) p.properties[k].required = true; p.required = true; } if (p.format === 'uri') p.format = 'url'; }
    return (a) => { const r = require('revalidator').validate(a, old, { additionalProperties: false }); return r.valid ? null : j(r.errors); };
  },
  'openapi-request-validator': async (S) => {
    const m = require('openapi-request-validator');
    const v = new (m.default ?? m)({ requestBody: { required: true, content: { 'application/json': { schema: S } } } });
    return (a) => { const r = v.validateRequest({ headers: { 'content-type': 'application/json' }, body: a, params: {}, query: {} }); return r ? { text: j(r), status: r.status } : null; };
  },
  'express-openapi-validator': async (S) => {
    const m = require('express-openapi-validator'); const express = require('express');
    const app = express();
    app.use(express.json());
    app.use(m.middleware({ apiSpec: { openapi: '3.0.3', info: { title: 'a', version: '1' }, paths: { '/orders': { post: { requestBody: { required: true, content: { 'application/json': { schema: S } } }, responses: { 200: { description: 'x' } } } } } }, validateRequests: true }));
    app.post('/orders', (q, r) => r.json({}));
    app.use((e, q, r, n) => r.status(e.status ?? 500).json({ message: e.message, errors: e.errors })); // eslint-disable-line no-unused-vars
    const url = await new Promise((yes) => { const s = app.listen(0, '127.0.0.1', () => yes(`http://127.0.0.1:${s.address().port}/orders`)); s.unref(); });
    return async (a) => { const r = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: j(a) }); return r.ok ? null : { text: await r.text(), status: r.status }; };
  },
  'rjsf-ajv8': async (S) => {
    const v = (await import('@rjsf/validator-ajv8')).default;
    return (a) => { const r = v.validateFormData(a, S); return r.errors.length ? r.errors.map((e) => e.stack).join('\n') : null; };
  },
};

/** ajv in other languages. */
export const languages = ['ar', 'ca', 'cs', 'de', 'es', 'fi', 'fr', 'hu', 'id', 'it', 'ja', 'ko', 'nb', 'nl', 'pl', 'pt-BR', 'ru', 'sk', 'sv', 'th', 'zh', 'zh-TW'];

export function localised(language) {
  return (S) => {
    const ajv = new (require('ajv'))({ allErrors: true, strict: false, messages: false });
    require('ajv-formats')(ajv);
    const check = ajv.compile(S);
    const tell = require(`ajv-i18n/localize/${language}`);
    return (a) => {
      if (check(a)) return null;
      tell(check.errors);
      return check.errors.map((e) => `${e.instancePath} ${e.message}`).join('\n');
    };
  };
}
