// The form in each JavaScript library that checks forms. A maker gives a check: null, a message, or it throws.
import { require } from './packages.mjs';

const j = JSON.stringify;
const REF = /^[A-Z]{2}[0-9]{2}$/;
const day = (v) => /^\d{4}-\d\d-\d\d$/.test(v) && !isNaN(Date.parse(v));
const mail = (v) => /^[^@\s]+@[^@\s]+\.\w+$/.test(v);
const rows = (o) => Object.entries(o ?? {}).flatMap(([k, v]) => [v].flat().map((m) => `${k}: ${m?.message ?? m}`)).join('\n') || null;

export default {
  valita: async () => {
    const v = await import('@badrap/valita');
    const T = v.object({ title: v.string().assert((s) => s.length >= 2 && s.length <= 12, 'expected 2 to 12 characters'), amount: v.number().assert(Number.isInteger, 'expected an integer').assert((n) => n >= 1 && n <= 50, 'expected a value between 1 and 50'), size: v.union(v.literal('small'), v.literal('large')), contact: v.string().assert(mail, 'expected an email address'), due: v.string().assert(day, 'expected a date like 2025-01-31'), ref: v.string().assert((s) => REF.test(s), `expected a match of ${REF}`), labels: v.array(v.string()).assert((a) => a.length >= 1 && a.length <= 3, 'expected 1 to 3 items'), site: v.string(), place: v.object({ town: v.string(), code: v.string() }), paid: v.boolean(), price: v.number() });
    return (a) => { T.parse(a, { mode: 'strict' }); return null; };
  },
  myzod: () => {
    const z = require('myzod');
    const T = z.object({ title: z.string().min(2).max(12), amount: z.number().min(1).max(50).withPredicate(Number.isInteger, 'expected number to be an integer'), size: z.literals('small', 'large'), contact: z.string().withPredicate(mail, 'expected an email'), due: z.date(), ref: z.string().pattern(REF), labels: z.array(z.string()).min(1).max(3).unique(), site: z.string(), place: z.object({ town: z.string(), code: z.string() }), paid: z.boolean(), price: z.number() });
    return (a) => { T.parse(a); return null; };
  },
  'computed-types': () => {
    const { default: Schema, string, number, boolean, array } = require('computed-types');
    const v = Schema({ title: string.min(2).max(12), amount: number.integer().gte(1).lte(50), size: Schema.either('small', 'large'), contact: string.regexp(/@/), due: string.test(day, 'Unknown date'), ref: string.regexp(REF), labels: array.of(string).min(1).max(3), site: string, place: { town: string, code: string }, paid: boolean, price: number }, { strict: true }).destruct();
    return (a) => { const [e] = v(a); return e ? j(e.errors?.map(({ error, path }) => ({ path, message: error.message })) ?? e.message) : null; };
  },
  validatorjs: () => {
    const V = require('validatorjs');
    return (a) => { const v = new V(a, { title: 'required|string|between:2,12', amount: 'required|integer|min:1|max:50', size: 'required|in:small,large', contact: 'required|email', due: 'required|date', ref: ['required', `regex:${REF}`], labels: 'required|array|min:1|max:3', 'labels.*': 'string', site: 'required|url', 'place.town': 'required|string', paid: 'required|boolean', price: 'required|numeric' }); return v.passes() ? null : j({ errors: v.errors.all() }); };
  },
  'tcomb-validation': () => {
    const t = require('tcomb-validation');
    const T = t.interface({ title: t.refinement(t.String, (s) => s.length >= 2 && s.length <= 12, 'Title of 2 to 12'), amount: t.refinement(t.Integer, (n) => n >= 1 && n <= 50, 'Between 1 and 50'), size: t.enums.of(['small', 'large'], 'Size'), contact: t.refinement(t.String, mail, 'Email'), due: t.refinement(t.String, day, 'Day'), ref: t.refinement(t.String, (s) => REF.test(s), 'Reference'), labels: t.list(t.String), site: t.String, place: t.interface({ town: t.String, code: t.String }, 'Place'), paid: t.Boolean, price: t.Number }, { name: 'Order', strict: true });
    return (a) => { const r = t.validate(a, T); return r.isValid() ? null : r.errors.map((e) => e.message).join('\n'); };
  },
  tcomb: () => {
    const t = require('tcomb');
    const T = t.struct({ title: t.refinement(t.String, (s) => s.length >= 2 && s.length <= 12, 'Title of 2 to 12'), amount: t.refinement(t.Integer, (n) => n >= 1 && n <= 50, 'Between 1 and 50'), size: t.enums.of(['small', 'large'], 'Size'), labels: t.list(t.String), place: t.struct({ town: t.String, code: t.String }, 'Place'), paid: t.Boolean, price: t.Number }, { name: 'Order', strict: true });
    return ({ contact, due, ref, site, ...a }) => { T(a); return null; }; // eslint-disable-line no-unused-vars
  },
  'ts-interface-checker': () => {
    const t = require('ts-interface-checker');
    const suite = { Place: t.iface([], { town: 'string', code: 'string' }), Order: t.iface([], { title: 'string', amount: 'number', size: t.union(t.lit('small'), t.lit('large')), contact: 'string', due: 'string', ref: 'string', labels: t.array('string'), site: 'string', place: 'Place', paid: 'boolean', price: 'number' }) };
    const { Order } = t.createCheckers(suite);
    return (a) => { Order.strictCheck(a); return null; };
  },
  'purify-ts': async () => {
    const { Codec, string, number, boolean, array, date, oneOf, exactly } = require('purify-ts');
    const C = Codec.interface({ title: string, amount: number, size: oneOf([exactly('small'), exactly('large')]), contact: string, due: date, ref: string, labels: array(string), site: string, place: Codec.interface({ town: string, code: string }), paid: boolean, price: number });
    return (a) => { const r = C.decode(a); return r.isLeft() ? r.extract() : null; };
  },
  v8n: () => {
    const v8n = require('v8n').default ?? require('v8n');
    const rules = { title: v8n().string().minLength(2).maxLength(12), amount: v8n().number().integer().between(1, 50), ref: v8n().string().pattern(REF), labels: v8n().array().minLength(1).maxLength(3).every.string(), paid: v8n().boolean(), price: v8n().number() };
    return (a) => { const bad = Object.entries(rules).flatMap(([k, r]) => r.testAll(a[k]).slice(0, 1).map(({ rule, value }) => ({ field: k, rule: { name: rule.name, args: rule.args.map(String) }, value }))); return bad.length ? j(bad) : null; };
  },
  'ts.data.json': async () => {
    const { JsonDecoder: D } = require('ts.data.json');
    const T = D.objectStrict({ title: D.string, amount: D.number, size: D.oneOf([D.isExactly('small'), D.isExactly('large')], 'Size'), contact: D.string, due: D.string, ref: D.string, labels: D.array(D.string, 'Labels'), site: D.string, place: D.object({ town: D.string, code: D.string }, 'Place'), paid: D.boolean, price: D.number }, 'Order');
    return (a) => { const r = T.decode(a); return r.isOk?.() ?? !r.error ? null : r.error; };
  },
  sury: async () => {
    const S = await import('sury');
    const T = S.strict(S.schema({ title: S.string.with(S.minLength, 2).with(S.maxLength, 12), amount: S.int32.with(S.gte, 1).with(S.lte, 50), size: S.union(['small', 'large']), contact: S.email, due: S.string, ref: S.string.with(S.pattern, REF), labels: S.array(S.string).with(S.minLength, 1).with(S.maxLength, 3), site: S.string, place: { town: S.string, code: S.string }, paid: S.boolean, price: S.number }));
    const parse = S.parseOrThrow(T);
    return (a) => { parse(a); return null; };
  },
  'simple-body-validator': async () => {
    const { make } = require('simple-body-validator');
    return (a) => { const v = make(a, { title: 'required|string|between:2,12', amount: 'required|integer|between:1,50', size: 'required|in:small,large', contact: 'required|email', due: 'required|date', labels: 'required|array|between:1,3', 'labels.*': 'string', site: 'required|url', place: 'required|object', 'place.town': 'required|string', paid: 'required|boolean', price: 'required|numeric' }); return v.validate() ? null : j({ message: v.errors().first(), errors: v.errors().all() }); };
  },
  jointz: async () => {
    const m = require('jointz'); const J = m.default ?? m;
    const T = J.object({ title: J.string().minLength(2).maxLength(12), amount: J.number().integer().min(1).max(50), size: J.constant('small', 'large'), contact: J.string().email(), due: J.string(), ref: J.string().pattern(REF), labels: J.array(J.string()).minLength(1).maxLength(3), site: J.string(), place: J.object({ town: J.string(), code: J.string() }).requiredKeys(['town', 'code']), paid: J.or(J.constant(true, false)), price: J.number().multipleOf(0.5) }).requiredKeys(['title', 'amount', 'size', 'contact', 'due', 'ref', 'labels', 'site', 'place', 'paid', 'price']);
    return (a) => { const e = T.validate(a); return e.length ? j(e.map(({ message, path }) => ({ message, path }))) : null; };
  },
  indicative: () => {
    const { validateAll } = require('indicative/validator');
    return async (a) => { try { await validateAll(a, { title: 'required|string|min:2|max:12', amount: 'required|integer|range:0,51', size: 'required|in:small,large', contact: 'required|email', due: 'required|date', labels: 'required|array|min:1|max:3', site: 'required|url', place: 'required|object', 'place.town': 'required|string', paid: 'required|boolean' }); return null; } catch (e) { return Array.isArray(e) ? j(e) : Promise.reject(e); } };
  },
  'prop-types': () => {
    const P = require('prop-types');
    const T = { order: P.exact({ title: P.string.isRequired, amount: P.number.isRequired, size: P.oneOf(['small', 'large']).isRequired, contact: P.string.isRequired, due: P.string, ref: P.string, labels: P.arrayOf(P.string).isRequired, site: P.string, place: P.shape({ town: P.string.isRequired, code: P.string.isRequired }).isRequired, paid: P.bool.isRequired, price: P.number.isRequired }).isRequired };
    return (a) => { let said = null; const old = console.error; console.error = (...x) => { said = x.join(' '); }; P.resetWarningCache(); P.checkPropTypes(T, { order: a }, 'prop', 'OrderForm'); console.error = old; return said; };
  },
  objection: () => {
    const { Model } = require('objection');
    const form = globalThis.FORM;
    class Order extends Model { static get tableName() { return 'orders'; } static get jsonSchema() { return form; } }
    return (a) => { Order.fromJson(a); return null; };
  },
  anchor: () => { // what waterline and sails check with
    const anchor = require('anchor');
    const rules = { title: { minLength: 2, maxLength: 12 }, amount: { isInteger: true, min: 1, max: 50 }, size: { isIn: ['small', 'large'] }, contact: { isEmail: true }, ref: { regex: REF }, site: { isURL: true }, paid: { isBoolean: true }, price: { isNumber: true } };
    return (a) => { const bad = Object.entries(rules).flatMap(([k, r]) => anchor(a[k], r).map((e) => ({ attribute: k, rule: e.rule, message: e.message }))); return bad.length ? j({ code: 'E_VIOLATES_RULES', errors: bad }) : null; };
  },
  'effect-schema': async () => {
    const { Schema: S } = await import('effect');
    const refs = S.isMinLength ? [S.isMinLength(2), S.isMaxLength(12)] : [];
    const T = S.Struct({ title: refs.length ? S.String.check(...refs) : S.String, amount: S.Int?.check ? S.Int.check(S.isGreaterThanOrEqualTo(1), S.isLessThanOrEqualTo(50)) : S.Number, size: S.Literals(['small', 'large']), contact: S.String, due: S.String, ref: S.isPattern ? S.String.check(S.isPattern(REF)) : S.String, labels: S.Array(S.String), site: S.String, place: S.Struct({ town: S.String, code: S.String }), paid: S.Boolean, price: S.Number });
    return (a) => { S.decodeUnknownSync(T, { onExcessProperty: 'error', errors: 'all' })(a); return null; };
  },
  shapeshift: async () => {
    const { s } = require('@sapphire/shapeshift');
    const T = s.object({ title: s.string().lengthGreaterThanOrEqual(2).lengthLessThanOrEqual(12), amount: s.number().int().greaterThanOrEqual(1).lessThanOrEqual(50), size: s.union([s.literal('small'), s.literal('large')]), contact: s.string().email(), due: s.string().date(), ref: s.string().regex(REF), labels: s.array(s.string()).lengthRange(1, 4).unique(), site: s.string().url(), place: s.object({ town: s.string(), code: s.string() }), paid: s.boolean(), price: s.number() }).strict();
    const tell = (e) => (e.errors ? e.errors.map((x) => (Array.isArray(x) ? `${String(x[0])}: ${tell(x[1])}` : tell(x))).join('\n') : e.message + (e.expected ? `, expected ${e.expected}` : '') + ('given' in e ? `, given ${j(e.given)}` : ''));
    return (a) => { const r = T.run(a); return r.isErr() ? tell(r.error) : null; };
  },
  parameter: () => {
    const P = require('parameter'); const p = new P();
    const R = { title: { type: 'string', min: 2, max: 12 }, amount: { type: 'int', min: 1, max: 50 }, size: { type: 'enum', values: ['small', 'large'] }, contact: 'email', due: 'date', ref: REF, labels: { type: 'array', itemType: 'string', min: 1, max: 3 }, site: 'url', place: { type: 'object', rule: { town: 'string', code: 'string' } }, paid: 'boolean', price: 'number' };
    return (a) => { const e = p.validate(R, a); return e ? j({ code: 'invalid_param', message: 'Validation Failed', errors: e }) : null; };
  },
  'schema-inspector': () => {
    const i = require('schema-inspector');
    const S = { type: 'object', strict: true, properties: { title: { type: 'string', minLength: 2, maxLength: 12 }, amount: { type: 'integer', gte: 1, lte: 50 }, size: { type: 'string', eq: ['small', 'large'] }, contact: { type: 'string', pattern: 'email' }, due: { type: 'string', pattern: 'date' }, ref: { type: 'string', pattern: REF }, labels: { type: 'array', items: { type: 'string' }, minLength: 1, maxLength: 3, uniqueness: true }, site: { type: 'string', pattern: 'url' }, place: { type: 'object', properties: { town: { type: 'string' }, code: { type: 'string' } } }, paid: { type: 'boolean' }, price: { type: 'number' } } };
    return (a) => { const r = i.validate(S, a); return r.valid ? null : r.format(); };
  },
  strummer: () => {
    const s = require('strummer');
    const T = s.objectWithOnly ? new s.objectWithOnly({ title: new s.string({ min: 2, max: 12 }), amount: new s.integer({ min: 1, max: 50 }), size: new s.enum({ values: ['small', 'large'], name: 'size', verbose: true }), contact: new s.email(), due: new s.isoDate({ time: false }), ref: REF, labels: new s.array({ of: 'string', min: 1, max: 3 }), site: new s.url(), place: { town: 'string', code: 'string' }, paid: 'boolean', price: 'number' }) : null;
    return (a) => { const e = T.match(a); return e.length ? e.map((x) => `${x.path} ${x.message}${x.value === undefined ? '' : ` (was ${j(x.value)})`}`).join('\n') : null; };
  },
  typanion: () => {
    const t = require('typanion');
    const T = t.isObject({ title: t.cascade(t.isString(), [t.hasMinLength(2), t.hasMaxLength(12)]), amount: t.cascade(t.isNumber(), [t.isInteger(), t.isInInclusiveRange(1, 50)]), size: t.isEnum(['small', 'large']), contact: t.isString(), due: t.isString(), ref: t.cascade(t.isString(), [t.matchesRegExp(REF)]), labels: t.cascade(t.isArray(t.isString()), [t.hasMinLength(1), t.hasMaxLength(3), t.hasUniqueItems()]), site: t.isString(), place: t.isObject({ town: t.isString(), code: t.isString() }), paid: t.isBoolean(), price: t.isNumber() });
    return (a) => { const errors = []; return T(a, { errors }) ? null : errors.join('\n'); };
  },
  'async-validator': async () => {
    const m = require('async-validator'); const V = m.default ?? m;
    const v = new V({ title: { type: 'string', required: true, min: 2, max: 12 }, amount: { type: 'integer', required: true, min: 1, max: 50 }, size: { type: 'enum', required: true, enum: ['small', 'large'] }, contact: { type: 'email', required: true }, due: { type: 'date', required: true }, ref: { type: 'string', required: true, pattern: REF }, labels: { type: 'array', required: true, min: 1, max: 3, defaultField: { type: 'string' } }, site: { type: 'url', required: true }, place: { type: 'object', required: true, fields: { town: { type: 'string', required: true }, code: { type: 'string', required: true } } }, paid: { type: 'boolean', required: true }, price: { type: 'number', required: true } });
    V.warning = () => {};
    return async (a) => { try { await v.validate(a, { suppressWarning: true }); return null; } catch (e) { if (!e.errors) throw e; return e.errors.map((x) => x.message).join('\n'); } };
  },
  'nope-validator': async () => {
    const m = require('nope-validator'); const N = m.default ?? m;
    const T = N.object().shape({ title: N.string().required().atLeast(2).atMost(12), amount: N.number().required().integer().atLeast(1).atMost(50), size: N.string().oneOf(['small', 'large']).required(), contact: N.string().email().required(), due: N.date().required(), ref: N.string().regex(REF).required(), labels: N.array().of(N.string()).required(), site: N.string().url().required(), place: N.object().shape({ town: N.string().required(), code: N.string().required() }), paid: N.boolean().required(), price: N.number().required() });
    return (a) => { const r = T.validate(a); return r ? j(r) : null; };
  },
  checkeasy: () => {
    const c = require('checkeasy');
    const T = c.object({ title: c.string({ min: 2, max: 12 }), amount: c.int({ min: 1, max: 50 }), size: c.oneOf(['small', 'large']), contact: c.email(), due: c.string({ pattern: /^\d{4}-\d\d-\d\d$/ }), ref: c.string({ pattern: REF }), labels: c.arrayOf(c.string(), { min: 1, max: 3 }), site: c.string(), place: c.object({ town: c.string(), code: c.string() }), paid: c.boolean(), price: c.float() });
    return (a) => { T(a, 'order'); return null; };
  },
  'lx-valid': () => {
    const v = require('lx-valid');
    const S = structuredClone(globalThis.FORM);
    for (const k of S.required) S.properties[k].required = true;
    S.properties.size.type = 'string'; S.properties.site.format = 'url';
    S.properties.place.properties.town.required = true;
    delete S.required; delete S.properties.place.required;
    return (a) => { const r = v.validate(a, S, { unknownProperties: 'error', strictRequired: true }); return r.valid ? null : j(r.errors); };
  },
  'property-validator': () => {
    const p = require('property-validator');
    const rules = [p.presence('title'), p.presence('amount'), p.isLength ? p.isLength('title', { min: 2, max: 12 }) : p.presence('title'), p.email('contact'), p.isNumeric?.('amount'), p.isIn?.('size', ['small', 'large']), p.format?.('ref', REF), p.isURL?.('site'), p.isISO8601?.('due'), p.presence('place.town')].filter(Boolean);
    return (a) => { const r = p.validate(a, rules); return r.valid ? null : j(r.messages); };
  },

  'fluentvalidation-ts': () => {
    const { Validator } = require('fluentvalidation-ts');
    class Place extends Validator { constructor() { super(); this.ruleFor('town').notNull().notEmpty(); this.ruleFor('code').notNull(); } }
    class Order extends Validator { constructor() { super(); this.ruleFor('title').notNull().notEmpty().minLength(2).maxLength(12); this.ruleFor('amount').notNull().greaterThanOrEqualTo(1).lessThanOrEqualTo(50); this.ruleFor('contact').emailAddress(); this.ruleFor('ref').matches(REF); this.ruleFor('size').must({ predicate: (s) => ['small', 'large'].includes(s), message: 'Must be small or large' }); this.ruleFor('place').notNull().setValidator(() => new Place()); this.ruleFor('labels').notNull().must((l) => l.length > 0 && l.length < 4); } }
    const v = new Order();
    return (a) => { const r = v.validate(a); return Object.keys(r).length ? rows(Object.fromEntries(Object.entries(r).map(([k, x]) => [k, typeof x === 'object' ? j(x) : x]))) : null; };
  },
  vuelidate: async () => {
    const v = require('@vuelidate/validators');
    const rules = { title: [v.required, v.minLength(2), v.maxLength(12)], amount: [v.required, v.integer, v.between(1, 50)], contact: [v.required, v.email], site: [v.required, v.url], price: [v.required, v.decimal], labels: [v.required, v.maxLength(3)], ref: [v.required, v.helpers.withMessage('Not of the form AA00', v.helpers.regex(REF))] };
    const tell = (rule, value) => (typeof rule.$message === 'function' ? rule.$message({ $params: rule.$params ?? {}, $model: value }) : rule.$message);
    const ok = (rule, value) => { const r = (rule.$validator ?? rule)(value); return r?.$valid ?? r; };
    return (a) => { const bad = Object.entries(rules).flatMap(([k, rs]) => rs.filter((r) => !ok(r, a[k])).slice(0, 1).map((r) => `${k}: ${tell(r, a[k])}`)); return bad.length ? bad.join('\n') : null; };
  },
  'survey-core': async () => {
    const { Model } = require('survey-core');
    const q = (name, o) => ({ name, isRequired: true, type: 'text', ...o });
    const S = { elements: [q('title', { validators: [{ type: 'text', minLength: 2, maxLength: 12 }] }), q('amount', { validators: [{ type: 'numeric', minValue: 1, maxValue: 50 }] }), q('contact', { validators: [{ type: 'email' }] }), q('ref', { validators: [{ type: 'regex', regex: REF.source }] }), q('labels', { type: 'checkbox', choices: ['new', 'old', 'a', 'b', 'c', 'd', 'e'], maxSelectedChoices: 3 }), q('price', { validators: [{ type: 'numeric' }] })] };
    return (a) => { const m = new Model(S); m.data = a; m.validate(true, false); const e = m.getAllQuestions().flatMap((x) => x.errors.map((y) => `${x.name}: ${y.getText()}`)); return e.length ? e.join('\n') : null; };
  },

  approvejs: () => {
    const m = require('approvejs'); const A = m.default ?? m;
    const R = { title: { required: true, range: { min: 2, max: 12 }, title: 'title' }, amount: { required: true, numeric: true, title: 'amount' }, contact: { required: true, email: true, title: 'contact' }, site: { required: true, url: true, title: 'site' }, ref: { required: true, format: { regex: REF, message: 'ref must be like AB12' }, title: 'ref' }, price: { required: true, decimal: true, title: 'price' } };
    return (a) => { const e = Object.entries(R).flatMap(([k, r]) => A.value(a[k], r).errors); return e.length ? e.join('\n') : null; };
  },
  formgator: async () => {
    const f = await import('formgator');
    const T = f.form({ title: f.text({ required: true, minlength: 2, maxlength: 12 }), amount: f.number({ required: true, min: 1, max: 50, step: 1 }), size: f.select(['small', 'large'], { required: true }), contact: f.email({ required: true }), due: f.date({ required: true }), ref: f.text({ required: true, pattern: REF }), site: f.url({ required: true }), price: f.number({ required: true, step: 0.5 }) });
    return (a) => { const d = new FormData(); for (const [k, v] of Object.entries(a)) d.append(k, typeof v === 'object' ? j(v) : String(v)); const r = T.safeParse(d); return r.success ? null : j(Object.fromEntries(Object.entries(r.error.issues).map(([k, i]) => [k, { code: i.code, message: i.message }]))); };
  },
};
