import type { AnyPath, Op } from '@strongroom/engine-sdk';
import type { TProperties, TSchema } from 'typebox';

/** The operations of a path that one verb of HTTP reaches. */
export interface Asked {
  readonly path: AnyPath;
  readonly verb: Verb;
  readonly ops: readonly Op<TProperties, TSchema>[];
  /** The path belongs to an engine, which may call systems outside. */
  readonly ofEngine: boolean;
}

/** Where the server itself answers; all else belongs to engines. */
const OWN: ReadonlySet<string> = new Set(['sys/', 'identity/', 'cubbyhole/', 'auth/token/']);

/** Whether the mount at this path, which has a closing slash, is one of an engine. */
export function isOfEngine(mount: string): boolean {
  return !OWN.has(mount);
}

export type Verb = 'get' | 'post' | 'patch' | 'delete';

/** A refusal or failure that follows from what a path declares, not from what its handler does. */
interface Failure {
  readonly status: number;
  /** Of the component of the document. */
  readonly name: string;
  readonly description: string;
  readonly may: (asked: Asked) => boolean;
  /** Headers that it may have. */
  readonly headers?: readonly 'Retry-After'[];
}

const always = (): boolean => true;
const hasBody = ({ verb }: Asked): boolean => verb === 'post' || verb === 'patch';
const isOpen = ({ path: { about } }: Asked): boolean => about.access === 'unauthenticated' || about.login !== undefined;

/** All that a call may fail with. An operation adds its own by `Op.answers`. */
export const FAILURES: readonly Failure[] = [
  {
    status: 400,
    name: 'BadRequest',
    description: 'The call is wrong: its path, a header, a parameter or a field. The text names it and says what is valid.',
    may: always,
  },
  {
    status: 403,
    name: 'Forbidden',
    description:
      'There is no valid token, or its policies do not allow the call. Also the answer to pages of an origin that CORS does not allow.',
    may: always,
  },
  {
    status: 404,
    name: 'NotFound',
    description: 'Nothing is there. Some engines answer with an envelope that says what was there, or why there is nothing.',
    may: always,
  },
  {
    status: 405,
    name: 'MethodNotAllowed',
    description: 'The path cannot be read, or not be listed.',
    may: ({ verb, path: { operations } }) => verb === 'get' && !(operations.read && operations.list && operations.scan),
  },
  { status: 408, name: 'RequestTimeout', description: 'The body did not arrive in time.', may: hasBody },
  { status: 409, name: 'Conflict', description: 'The server is doing something that excludes this.', may: () => false },
  { status: 413, name: 'BodyTooLarge', description: 'The body exceeds a limit of the listener.', may: hasBody },
  {
    status: 415,
    name: 'UnsupportedMediaType',
    description: 'The body is of a media type or encoding that the path does not take.',
    may: hasBody,
  },
  {
    status: 429,
    name: 'TooManyRequests',
    description: 'A quota is used up, or the bodies of other calls take all the memory that there is for them.',
    may: always,
    headers: ['Retry-After'],
  },
  { status: 500, name: 'Failed', description: 'The server failed, or an outside system that the text names.', may: always },
  { status: 501, name: 'NotImplemented', description: 'The storage of this server cannot do this.', may: () => false },
  {
    status: 502,
    name: 'UpstreamLimited',
    description: 'An outside system refuses because it gets too many requests. The text names it.',
    may: ({ ofEngine }) => ofEngine,
  },
  {
    status: 503,
    name: 'Unavailable',
    description: 'The server is sealed, its storage does not answer, or the mount is quarantined or being changed.',
    may: always,
    headers: ['Retry-After'],
  },
  {
    status: 504,
    name: 'DeadlinePassed',
    description: 'The call took too long and was ended. What it began outside is rolled back.',
    may: ({ ops }) => !ops.every(({ untimed }) => untimed === true),
  },
  {
    status: 507,
    name: 'NoRoom',
    description: 'The storage is full.',
    // A token that is good for so many calls is written by each of them.
    may: (asked) => !(isOpen(asked) && asked.verb === 'get'),
  },
];

/** What an operation may fail with, whatever it does. */
export function failuresOf(asked: Asked): readonly Failure[] {
  return FAILURES.filter(({ may }) => may(asked));
}
