import { onlineManager } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { ApiError } from '../api/api-error.ts';
import { currentSettings } from '../api/console-settings.ts';
import { queryClient } from '../api/queries.ts';
import { isUnknownToken } from '../api/refused-token.ts';
import { onUnknownToken, send, type Auth } from '../api/send.ts';
import { token } from '../api/token.ts';
import { drafts } from '../parts/drafts.ts';
import { tellTabs } from './session-channel.ts';

/** How somebody logged in. */
export interface Way {
  /** The auth mount, without `auth/`: `ldap/`; `token` for a token that was pasted. */
  readonly method: string;
}

/** Whose token it is, as far as the server says. */
export interface Holder {
  readonly name: string;
  readonly entityId: string;
  readonly accessor: string;
  readonly policies: readonly string[];
  readonly root: boolean;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Undefined for a token without an end. */
  readonly ends: number | undefined;
  readonly renewable: boolean;
  /** How many calls are left, for a token whose calls are counted. */
  readonly uses: number | undefined;
}

/** Why the page is covered by a login: the token has ended, or nobody was there. */
export type Covered = 'over' | 'locked';

export interface Session {
  readonly token: string | undefined;
  readonly way: Way | undefined;
  /** Undefined until the server has told. */
  readonly holder: Holder | undefined;
  readonly covered: Covered | undefined;
  /** Grows when another person has taken over, so that nothing of the page before stays. */
  readonly turn: number;
}

const WAY = 'strongroom-login';

let session: Session = {
  token: token.current(),
  way: storedWay(),
  holder: undefined,
  covered: undefined,
  turn: 0,
};
const listeners = new Set<() => void>();

function change(next: Partial<Session>): void {
  session = { ...session, ...next };
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

// Whether calls are made is the session's to say: a server of this machine needs no network.
onlineManager.setEventListener(() => undefined);
onUnknownToken(() => void checkToken());

let checking = false;

/** A call found the token unknown: if it is, the page is covered by a login. */
async function checkToken(): Promise<void> {
  const value = session.token;
  if (checking || value === undefined) return;
  checking = true;
  try {
    await lookUp(value);
  } catch (error) {
    if (error instanceof ApiError && isUnknownToken(error) && session.token === value) cover('over');
  } finally {
    checking = false;
  }
}

export function currentSession(): Session {
  return session;
}

/** Who is logged in, as pages see it. */
export function useSession(): Session {
  return useSyncExternalStore(subscribe, currentSession);
}

/** Whether a new login may go on with the page of the one before. */
export function samePerson(before: Holder | undefined, after: Holder): boolean {
  if (!before) return false;
  return before.entityId === '' ? before.accessor !== '' && before.accessor === after.accessor : before.entityId === after.entityId;
}

/**
 * Begins a session, or goes on with one that was covered, when the same person comes back. `auth` is what the login answered, for tokens that may not look
 * at themselves.
 * @throws ApiError when the server does not know the token
 */
export async function beginSession(value: string, way: Way, auth?: Auth): Promise<void> {
  const holder = await lookUp(value, auth);
  const goesOn = session.covered !== undefined && samePerson(session.holder, holder);
  token.set(value, currentSettings().session === 'tab');
  storeWay(way);
  if (!goesOn) queryClient.clear();
  change({ token: value, way, holder, covered: undefined, turn: goesOn ? session.turn : session.turn + 1 });
  onlineManager.setOnline(true);
  if (goesOn) await queryClient.invalidateQueries();
}

/** After a reload of the page: whose token it is. A token that has ended is dropped. */
export async function learnHolder(): Promise<void> {
  const value = session.token;
  if (value === undefined) return;
  try {
    const holder = await lookUp(value);
    if (session.token === value) change({ holder });
  } catch (error) {
    if (error instanceof ApiError && isUnknownToken(error) && session.token === value) forget();
  }
}

/** Asks for more time. @throws ApiError */
export async function renewSession(): Promise<void> {
  const { token: value, holder } = session;
  if (value === undefined || !holder) return;
  const answer = await send('POST', 'auth/token/renew-self', { body: {}, token: value });
  if (session.token !== value || !answer.auth) return;
  const since = Date.now();
  const ends = since + answer.auth.lease_duration * 1000;
  // What the server cannot prolong any more is near its maximum: asking again brings nothing.
  const gained = holder.ends === undefined ? 0 : ends - holder.ends;
  change({ holder: { ...holder, since, ends, renewable: answer.auth.renewable && gained > 1000 } });
}

/** The server would not renew: the token goes on to its end. */
export function stopRenewing(): void {
  if (session.holder) change({ holder: { ...session.holder, renewable: false } });
}

/** Covers the page with a login, and forgets the token and everything that was read. What somebody typed stays. */
export function cover(reason: Covered): void {
  if (session.covered !== undefined || session.token === undefined) return;
  token.set(undefined);
  onlineManager.setOnline(false);
  change({ token: undefined, covered: reason });
  void queryClient.resetQueries();
  if (reason === 'locked') tellTabs('lock');
}

/** Ends the session. `revoke` ends the token too, and everything that was issued with it; otherwise the page only forgets it. */
export async function endSession({ revoke }: { readonly revoke: boolean }): Promise<void> {
  const value = session.token;
  tellTabs('log out');
  forget();
  if (revoke && value !== undefined) await send('POST', 'auth/token/revoke-self', { token: value }).catch(() => undefined);
}

/** Forgets the token, everything that was read with it, and what was typed. */
export function forget(): void {
  token.set(undefined);
  drafts.clear();
  sessionStorage.removeItem(WAY);
  change({ token: undefined, way: undefined, holder: undefined, covered: undefined, turn: session.turn + 1 });
  onlineManager.setOnline(true);
  queryClient.clear();
}

interface TokenData {
  readonly accessor: string;
  readonly display_name: string;
  readonly entity_id: string;
  readonly policies: readonly string[] | null;
  readonly identity_policies?: readonly string[] | null;
  readonly expire_time: string | null;
  readonly ttl: number;
  readonly renewable?: boolean;
  readonly num_uses: number;
}

/** A token that was pasted and may not look at itself. */
const NOBODY: Omit<Holder, 'since'> = {
  name: '',
  entityId: '',
  accessor: '',
  policies: [],
  root: false,
  ends: undefined,
  renewable: false,
  uses: undefined,
};

async function lookUp(value: string, auth?: Auth): Promise<Holder> {
  const since = Date.now();
  try {
    const { data } = await send<TokenData>('GET', 'auth/token/lookup-self', { token: value });
    const policies = [...(data.policies ?? []), ...(data.identity_policies ?? [])];
    return {
      name: data.display_name,
      entityId: data.entity_id,
      accessor: data.accessor,
      policies,
      root: policies.includes('root'),
      since,
      ends: data.expire_time === null ? undefined : since + data.ttl * 1000,
      renewable: data.renewable === true,
      uses: data.num_uses > 0 ? data.num_uses : undefined,
    };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403 || isUnknownToken(error)) throw error;
    if (!auth) return { ...NOBODY, since };
    return {
      name: Object.values(auth.metadata ?? {})[0] ?? '',
      entityId: auth.entity_id,
      accessor: auth.accessor,
      policies: auth.policies,
      root: auth.policies.includes('root'),
      since,
      ends: auth.lease_duration > 0 ? since + auth.lease_duration * 1000 : undefined,
      renewable: auth.renewable,
      uses: undefined,
    };
  }
}

function storeWay(way: Way): void {
  if (currentSettings().session === 'tab') sessionStorage.setItem(WAY, JSON.stringify(way));
}

function storedWay(): Way | undefined {
  const text = sessionStorage.getItem(WAY);
  return text === null ? undefined : (JSON.parse(text) as Way);
}
