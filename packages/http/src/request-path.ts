import { Refusal } from './refusal.ts';

/** Escapes, dots, empty segments and bytes outside printable ASCII; everything else is already the path. */
const NEEDS_CARE = /[^!-$&-~]|\/[./]|^[./]/;

/** Where a request goes: `path` below the API's prefix, or the address to ask instead. */
export type RequestPath = { readonly path: string; readonly redirect?: never } | { readonly redirect: string; readonly path?: never };

/** True for the paths that can be taken as they are. */
export function isPlainPath(path: string): boolean {
  return !NEEDS_CARE.test(path);
}

/**
 * Decodes a path. Empty and dot segments are not obeyed but answered with a redirect to the cleaned path, as Go's mux does.
 * `base` is what stands before `raw` and its slash, such as `/v1`.
 * @throws Refusal (400) for what does not decode
 */
export function requestPath(base: string, raw: string): RequestPath {
  const path = decodedPath(raw);
  if (!/(?:^|\/)(?:\.{1,2}(?:\/|$)|\/)/.test(path)) return { path };
  const kept: string[] = [];
  for (const segment of `${base}/${path}`.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(encodeURIComponent(segment));
  }
  return { redirect: `/${kept.join('/')}${kept.length > 0 && path.endsWith('/') ? '/' : ''}` };
}

function decodedPath(raw: string): string {
  if (/[^!-~]/.test(raw)) throw new Refusal(400, 'the path is not percent-encoded');
  try {
    return decodeURIComponent(raw);
  } catch {
    throw new Refusal(400, 'the path is not valid percent-encoded UTF-8');
  }
}
