// Packages are looked for where NODE_MODULES says: `await import(packages)` first, then import any by its name.
import { createRequire, register } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const root = path.resolve(process.env.NODE_MODULES ?? 'node_modules', '..', 'x.js');
const hook = `export const resolve = (name, context, next) =>
  next(name, context).catch(() => next(name, { ...context, parentURL: ${JSON.stringify(pathToFileURL(root).href)} }));`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

export const require = createRequire(root);

/** The work, or a refusal after so many seconds. */
export function within(seconds, work) {
  let timer;
  const late = new Promise((_, no) => { timer = setTimeout(() => no(new Error('DID NOT END')), seconds * 1000); });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** A thrown value as class, status and text. */
export function said(error) {
  const status = error?.status ?? error?.statusCode ?? error?.code;
  const kind = error?.name && error.name !== 'Error' ? error.name : error?.constructor?.name;
  return {
    exception: /^[A-Z][\w. ]{2,}$|^[a-z]\w*\.\w+$/.test(kind ?? '') && kind !== 'String' ? kind : null,
    status: typeof status === 'number' || /^[\w.-]{2,40}$/.test(status ?? '') ? status : null,
    text: String(error?.message ?? error),
  };
}
