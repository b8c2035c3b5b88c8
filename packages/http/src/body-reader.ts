import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock, QueuedTimeout, TimeoutQueue } from '@strongroom/engine-sdk';
import type { BodyLimits } from './body-limits.ts';
import type { BodyHold } from './body-memory.ts';
import { askForBody } from './expectation.ts';
import { Refusal } from './refusal.ts';
import type { Sender } from './sender.ts';

/** Bytes of the pieces of memory into which a body is copied: the first, and the largest. */
const FIRST_PIECE = 16_384;
const LARGEST_PIECE = 1_048_576;
/** This many chunks may be of any size; more must have a number of bytes on average. */
const FREE_CHUNKS = 1_000;
const LEAST_CHUNK = 64;

export interface BodyRules {
  readonly sender: Sender;
  readonly hold: BodyHold;
  readonly unknown: BodyLimits;
  readonly known: BodyLimits;
  readonly clock: Clock;
  /** The bodies that are being read within the time of `unknown`. */
  readonly reading: TimeoutQueue<Overdue>;
}

/** What is called back when its time is over. */
export interface Overdue {
  overdue(): void;
}

/** Calls back once with the whole body, or with a refusal; not at all when the caller goes away first, which returns what the body held. */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  rules: BodyRules,
  done: (body: Buffer | Refusal) => void,
): void {
  new BodyReader(request, response, rules, done).begin();
}

class BodyReader implements Overdue {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #rules: BodyRules;
  readonly #done: (body: Buffer | Refusal) => void;
  readonly #declaredLength: number | undefined;
  #limits: BodyLimits;
  /** What arrived, in pieces that are full but for the last: none is moved as the body grows. */
  readonly #pieces: Buffer[] = [];
  #capacity = 0;
  #size = 0;
  #chunks = 0;
  #listening = false;
  #ended = false;
  #timeout: QueuedTimeout<Overdue> | undefined;
  #stopClock: (() => void) | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, rules: BodyRules, done: (body: Buffer | Refusal) => void) {
    this.#request = request;
    this.#response = response;
    this.#rules = rules;
    this.#done = done;
    const declared = request.headers['content-length'];
    this.#declaredLength = declared === undefined ? undefined : Number(declared);
    this.#limits = rules.unknown;
  }

  begin(): void {
    const declared = this.#declaredLength ?? 0;
    if (declared > this.#rules.known.maxBytes) this.#refuse(tooLarge());
    // The token is looked at before a byte is read.
    else if (declared > this.#limits.maxBytes) this.#requireKnown(tooLarge, 0, () => this.#listen());
    else this.#listen();
  }

  #listen(): void {
    const request = this.#request;
    request.on('data', this.#onData);
    request.on('end', this.#onEnd);
    request.on('close', this.#onClose);
    request.on('error', ignore);
    this.#listening = true;
    if (this.#limits === this.#rules.known) this.#watch(this.#limits.timeout);
    else this.#timeout = this.#rules.reading.add(this);
    askForBody(request, this.#response);
  }

  /** The time of a caller who is not known is over. */
  overdue(): void {
    this.#requireKnown(tooLate, this.#capacity, nothing);
  }

  /** The time of a known caller, which few bodies need. */
  #watch(millis: number): void {
    this.#stopTime();
    this.#stopClock = this.#rules.clock.after(millis, () => this.#refuse(tooLate()));
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#chunks += 1;
    const size = this.#size + chunk.length;
    if (size > this.#rules.known.maxBytes) {
      this.#refuse(tooLarge());
      return;
    }
    const room = this.#roomFor(size);
    const goOn = (): void => this.#append(chunk, size, room);
    if (!this.#rules.hold.take(room)) this.#pauseFor(tooMuch, room, goOn);
    else if (size > this.#limits.maxBytes) this.#pauseFor(tooLarge, room, goOn);
    else if (this.#chunks > FREE_CHUNKS && size < LEAST_CHUNK * this.#chunks && this.#limits !== this.#rules.known)
      this.#pauseFor(tooSmall, room, goOn);
    else goOn();
  };

  readonly #onEnd = (): void => {
    this.#end();
    const [first] = this.#pieces;
    const body = this.#pieces.length > 1 ? Buffer.concat(this.#pieces, this.#size) : first?.subarray(0, this.#size);
    this.#pieces.length = 0;
    this.#done(body ?? Buffer.alloc(0));
  };

  readonly #onClose = (): void => {
    if (this.#ended) return;
    this.#end();
    this.#rules.hold.release();
  };

  /** Bytes of memory for a body of this length. */
  #roomFor(size: number): number {
    if (size <= this.#capacity) return this.#capacity;
    // A body that comes at once stays where it is.
    if (this.#capacity === 0 && size === this.#declaredLength) return size;
    const piece = Math.min(Math.max(this.#capacity, FIRST_PIECE), LARGEST_PIECE);
    const room = Math.max(this.#capacity + piece, size);
    return this.#declaredLength === undefined ? room : Math.max(size, Math.min(room, this.#declaredLength));
  }

  #append(chunk: Buffer, size: number, room: number): void {
    const last = this.#pieces.at(-1);
    if (!last && chunk.length === room) this.#pieces.push(chunk);
    else {
      const free = this.#capacity - this.#size;
      const copied = last && free > 0 ? chunk.copy(last, last.length - free) : 0;
      if (room > this.#capacity) {
        const piece = Buffer.allocUnsafeSlow(room - this.#capacity);
        chunk.copy(piece, 0, copied);
        this.#pieces.push(piece);
      }
    }
    this.#capacity = room;
    this.#size = size;
  }

  /** Goes on only with a caller who is known, and for whom there is room. */
  #pauseFor(refusal: () => Refusal, room: number, goOn: () => void): void {
    this.#request.pause();
    this.#requireKnown(refusal, room, () => {
      goOn();
      this.#request.resume();
    });
  }

  /** Goes on only with a caller who turns out to be known, and for whom there is so much room. */
  #requireKnown(refusal: () => Refusal, room: number, goOn: () => void): void {
    const { sender, hold, known } = this.#rules;
    const wasKnown = this.#limits === known;
    sender.known().then(
      (isKnown) => {
        if (this.#ended) return;
        if (!isKnown || wasKnown) {
          this.#refuse(!isKnown && sender.sealed ? sealed() : refusal());
          return;
        }
        this.#limits = known;
        if (this.#listening) this.#watch(Math.max(0, known.timeout - this.#rules.unknown.timeout));
        if (hold.known() && hold.take(room)) goOn();
        else this.#refuse(tooMuch());
      },
      (error: unknown) => {
        this.#refuse(new Refusal(500, 'internal error', { closes: true, cause: error }));
      },
    );
  }

  #refuse(refusal: Refusal): void {
    if (this.#ended) return;
    this.#end();
    this.#pieces.length = 0;
    this.#done(refusal);
  }

  #stopTime(): void {
    if (this.#timeout) this.#rules.reading.delete(this.#timeout);
    this.#timeout = undefined;
    this.#stopClock?.();
  }

  #end(): void {
    this.#ended = true;
    this.#stopTime();
    this.#request.removeListener('data', this.#onData);
    this.#request.removeListener('end', this.#onEnd);
  }
}

/** A caller that went away is not answered. */
function ignore(): void {}

function nothing(): void {}

/** The same body may be welcome once the server is unsealed. */
function sealed(): Refusal {
  return new Refusal(503, 'Vault is sealed', { closes: true });
}

function tooLarge(): Refusal {
  return new Refusal(413, 'http: request body too large', { closes: true });
}

function tooLate(): Refusal {
  return new Refusal(408, 'the request did not arrive in time', { closes: true });
}

function tooSmall(): Refusal {
  return new Refusal(400, `the body comes in chunks of less than ${LEAST_CHUNK} bytes; send larger ones`, { closes: true });
}

/** There is no room for the body, or for what is made of it. */
export function tooMuch(): Refusal {
  return new Refusal(429, 'the bodies of other requests take all the memory there is for them; try again', {
    closes: true,
    headers: ['Retry-After', '1'],
  });
}
