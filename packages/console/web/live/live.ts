import { queryClient } from '../api/queries.ts';
import { EventReader, type LiveEvent } from './live-event.ts';
import { makesStale } from './stale-reads.ts';

/** Events are gathered for so long before pages read again. Milliseconds, as all that follow. */
const GATHER = 400;
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 60_000;
/** A stream that is silent for so long is dead: the server pings every 15 s. */
const SILENCE = 40_000;

/**
 * Keeps what pages show up to date while a token is in use, by the events of the server. One stream serves all tabs of a browser that have the same token, whose
 * accessor is `holder`; where a browser cannot agree on one, each tab has its own. Pages poll besides, so that nothing depends on it: a token that may not follow
 * events, or a server without them, is asked no more. The result ends it.
 */
export function goLive(token: string, holder: string): () => void {
  const over = new AbortController();
  const name = `strongroom-live-${holder}`;
  const others = holder === '' ? undefined : new BroadcastChannel(name);
  const gathered = gather();
  others?.addEventListener('message', ({ data }: MessageEvent<LiveEvent>) => gathered.add(data));
  const told = (event: LiveEvent): void => {
    gathered.add(event);
    others?.postMessage(event);
  };
  const stream = async (): Promise<void> => follow(token, told, over.signal);
  // Browsers have locks on secure pages alone.
  const locks = others && (navigator.locks as LockManager | undefined);
  (locks ? inTurn(locks, name, stream, () => gathered.add(RESET), over.signal) : stream()).catch(() => undefined);
  return () => {
    over.abort();
    others?.close();
    gathered.drop();
  };
}

/** Streams once no other tab does. `led` is called where another tab streams already. */
async function inTurn(locks: LockManager, name: string, stream: () => Promise<void>, led: () => void, signal: AbortSignal): Promise<void> {
  const leads = await locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock) await stream();
    return lock !== null;
  });
  if (leads || signal.aborted) return;
  led();
  await locks.request(name, { signal }, stream);
}

/** Follows until it may not, or is asked to end. Never rejects. */
async function follow(token: string, told: (event: LiveEvent) => void, signal: AbortSignal): Promise<void> {
  let cursor: string | undefined;
  let pause = FIRST_PAUSE;
  while (!signal.aborted) {
    const reader = new EventReader(cursor);
    const began = Date.now();
    const may = await stream(token, reader, told, signal).catch(() => true);
    if (!may) return;
    ({ cursor } = reader);
    pause = Date.now() - began > SILENCE ? FIRST_PAUSE : Math.min(LONGEST_PAUSE, pause * 2);
    await waited(pause * (0.5 + Math.random()), signal);
  }
}

/** One stream to its end. False where another attempt would be answered the same. */
async function stream(token: string, reader: EventReader, told: (event: LiveEvent) => void, signal: AbortSignal): Promise<boolean> {
  const silent = new AbortController();
  const continues = reader.cursor !== undefined;
  let timer = setTimeout(() => silent.abort(), SILENCE);
  try {
    const response = await fetch('/v1/sys/events', {
      headers: {
        'X-Vault-Request': 'true',
        'X-Vault-Token': token,
        ...(reader.cursor === undefined ? {} : { 'Last-Event-ID': reader.cursor }),
      },
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.any([signal, silent.signal]),
    });
    if (!response.ok || !response.body) return response.status === 429 || response.status >= 500;
    const decoder = new TextDecoder();
    const parts = response.body.getReader();
    for (;;) {
      const { done, value } = await parts.read();
      if (done) return true;
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), SILENCE);
      for (const event of reader.take(decoder.decode(value, { stream: true }))) {
        if (event.kind === 'ready' && !continues) told(RESET);
        if (!isOfStream(event)) told(event);
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

/** What pages have read before events reached them may be out of date. */
const RESET: LiveEvent = { kind: 'reset' };

/** `reset` is news for pages, the others are not. */
function isOfStream({ kind }: LiveEvent): boolean {
  return kind === 'ready' || kind === 'end';
}

/** Has pages read again what events make stale, not more often than every so many milliseconds. */
function gather(): { add: (event: LiveEvent) => void; drop: () => void } {
  let events: LiveEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const readAgain = (): void => {
    timer = undefined;
    const taken = events;
    events = [];
    void queryClient.invalidateQueries({
      // A secret that is shown is not read again by itself: each read of it stands in the audit log.
      predicate: ({ queryKey: [key], gcTime }) => typeof key === 'string' && gcTime !== 0 && taken.some((event) => makesStale(event, key)),
    });
  };
  return {
    add: (event) => {
      events.push(event);
      timer ??= setTimeout(readAgain, GATHER);
    },
    drop: () => {
      clearTimeout(timer);
      events = [];
    },
  };
}

async function waited(millis: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, millis);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
