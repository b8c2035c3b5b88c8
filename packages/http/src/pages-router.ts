import type { IncomingMessage, ServerResponse } from 'node:http';
import { AnswerWriter } from './answer-writer.ts';
import { preferredCoding } from './content-coding.ts';
import type { PageFile, PageFiles } from './page-file.ts';
import { PAGE_HEADERS } from './page-headers.ts';

/** Answers a request of which `url` is the rest behind the place where it is mounted, with its slash in front. */
export type PagesHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Headers that operators add to pages while the server runs, by name. */
export interface PageHeaderSource {
  readonly all: ReadonlyMap<string, readonly string[]>;
}

const INDEX = 'index.html';
const ASSETS = 'assets/';
/** A year: an asset whose content changes has another name. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/**
 * A console's files as a handler for any express app that has the API at `/v1`: `app.use('/ui', pagesRouter(files))`. A path that no file has is a page
 * of the console's own router, so it gets `index.html`; one below `assets/` gets 404. It never calls `next`.
 *
 * @throws TypeError for files without `index.html`
 */
export function pagesRouter(
  files: PageFiles,
  { headers = {}, pageHeaders }: { readonly headers?: Readonly<Record<string, string>>; readonly pageHeaders?: PageHeaderSource } = {},
): PagesHandler {
  const writer = new AnswerWriter(besideOurs(headers));
  const index = files.get(INDEX);
  if (!index) throw new TypeError(`the files of a console must contain ${INDEX}`);
  return (request, response) => {
    const path = pathOf(request.url ?? '/');
    const asset = path.startsWith(ASSETS);
    const file = files.get(path) ?? (asset ? undefined : index);
    if (request.method !== 'GET' && request.method !== 'HEAD') writer.errors(response, 405, [], ['Allow', 'GET, HEAD', ...PAGE_HEADERS]);
    else if (!file) writer.errors(response, 404, [], PAGE_HEADERS);
    else sendFile(writer, request, response, { file, cache: asset ? IMMUTABLE : 'no-cache', more: added(pageHeaders) });
  };
}

function sendFile(
  writer: AnswerWriter,
  request: IncomingMessage,
  response: ServerResponse,
  { file, cache, more }: { readonly file: PageFile; readonly cache: string; readonly more: readonly string[] },
): void {
  const { coding, body } = preferredCoding(file, request.headers['accept-encoding']?.toString());
  const etag = coding === undefined ? file.etag : `${file.etag.slice(0, -1)}-${coding}"`;
  const headers = ['Cache-Control', cache, 'ETag', etag, 'Vary', 'Accept-Encoding', ...PAGE_HEADERS, ...more];
  if (matches(request.headers['if-none-match'], etag)) writer.unchanged(response, headers);
  else writer.send(response, 200, file.type, body, coding === undefined ? headers : [...headers, 'Content-Encoding', coding]);
}

/**
 * The headers that are sent with every answer, without those that pages set: browsers ignore most of them when they come twice. A second
 * Content-Security-Policy can only forbid more, so it stays.
 */
function besideOurs(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OURS.has(name.toLowerCase())));
}

const OURS = new Set(PAGE_HEADERS.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
OURS.delete('content-security-policy');
/** What says how a file is sent. */
const FRAMING = new Set([
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'etag',
  'transfer-encoding',
  'vary',
]);

/** Names and values in turn. */
function added(source: PageHeaderSource | undefined): string[] {
  if (!source) return [];
  const usable = [...source.all].filter(([name]) => !OURS.has(name.toLowerCase()) && !FRAMING.has(name.toLowerCase()));
  return usable.flatMap(([name, values]) => values.flatMap((value) => [name, value]));
}

/** The path of a URL without its first slash and without its query, as the caller wrote it. */
function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return url.slice(1, mark < 0 ? undefined : mark);
}

/** `If-None-Match`, compared weakly, as it must be. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
}
