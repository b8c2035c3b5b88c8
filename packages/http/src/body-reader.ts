import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

/** Calls back once with the whole body, or with a refusal; not at all when the caller goes away first. */
export function readBody(request: IncomingMessage, maxBytes: number, done: (body: Buffer | Refusal) => void): void {
  const announced = request.headers['content-length'];
  if (announced !== undefined && Number(announced) > maxBytes) {
    done(tooLarge());
    return;
  }
  let first: Buffer | undefined;
  let chunks: Buffer[] | undefined;
  let size = 0;
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    if (size > maxBytes) {
      request.removeListener('data', onData);
      request.removeListener('end', onEnd);
      done(tooLarge());
    } else if (first === undefined) first = chunk;
    else (chunks ??= [first]).push(chunk);
  };
  const onEnd = (): void => {
    done(chunks ? Buffer.concat(chunks, size) : (first ?? Buffer.alloc(0)));
  };
  request.on('data', onData);
  request.on('end', onEnd);
  request.on('error', ignore);
}

/** A caller that went away is not answered. */
function ignore(): void {}

function tooLarge(): Refusal {
  return new Refusal(413, 'http: request body too large', true);
}
